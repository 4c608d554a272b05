/** The page's style: of the system's fonts, in its light or dark colours, and without a table's columns on a phone. */
export const style = `
:root { color-scheme: light dark; --back: #fff; --text: #1b1f24; --faint: #57606a; --line: #d0d7de; --band: #f3f5f7;
  --link: #0550ae; --failing: #a40e26; --unknown: #7a4a00; --working: #0550ae; --well: #116329; }
@media (prefers-color-scheme: dark) {
  :root { --back: #0d1117; --text: #e6edf3; --faint: #9aa5b1; --line: #3d444d; --band: #161b22;
    --link: #79c0ff; --failing: #ff9492; --unknown: #f0b72f; --working: #79c0ff; --well: #6bd089; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1rem; max-width: 90rem; background: var(--back); color: var(--text);
  font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: break-word; }
html { scroll-padding-top: 6rem; }
h1 { font-size: 1.5rem; margin: 0; }
h2 { font-size: 1.2rem; margin: 2rem 0 .5rem; }
a { color: var(--link); }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
.skip { position: absolute; left: -100vw; }
.skip:focus { position: static; }
.faint { color: var(--faint); }
.summary { font-size: 1.1rem; margin: .25rem 0; }
.notice { border: 2px solid var(--failing); padding: .5rem 1rem; }
.failing { color: var(--failing); } .due { color: var(--unknown); } .unknown { color: var(--unknown); } .working { color: var(--working); } .well { color: var(--well); }
.state { font-weight: 600; white-space: nowrap; }
code { font: .9em ui-monospace, monospace; background: var(--band); padding: .1em .3em; border-radius: .25em; }
table { width: 100%; border-collapse: collapse; }
caption { text-align: left; color: var(--faint); padding: .25rem 0; }
th, td { text-align: left; vertical-align: top; padding: .35rem .5rem; border-bottom: 1px solid var(--line); font-weight: 400; }
thead th, tbody .group { font-weight: 600; background: var(--band); }
th.name { font-weight: 600; min-width: 8rem; overflow-wrap: anywhere; }
td[data-label^="What"], td[data-label^="Has"] { min-width: 12rem; overflow-wrap: anywhere; }
ul { margin: 0; padding-left: 1.2rem; }
summary { cursor: pointer; padding: .15rem 0; }
form { display: flex; flex-wrap: wrap; gap: .75rem; align-items: end; position: sticky; top: 0; z-index: 1;
  background: var(--back); margin-top: 2rem; padding: .5rem 0; border: solid var(--line); border-width: 1px 0; }
form[hidden], tr[hidden], tbody[hidden] { display: none !important; }
label { display: grid; font-size: .9rem; color: var(--faint); }
input, select { font: inherit; color: var(--text); background: var(--back); border: 1px solid var(--faint); border-radius: .3rem;
  padding: .35rem .5rem; min-width: 0; max-width: 100%; min-height: 2.5rem; }
@media (max-width: 60rem) {
  form { position: static; display: grid; grid-template-columns: 1fr 1fr; }
  label:first-child, #shown { grid-column: 1 / -1; margin: 0; }
  label, input, select { width: 100%; }
  table, caption, tbody, tr, td, tr > th { display: block; width: 100%; overflow-wrap: anywhere; }
  thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  tr { border-bottom: 1px solid var(--line); padding: .4rem 0; }
  th, td { border: 0; padding: .1rem .25rem; }
  td[data-label]::before { content: attr(data-label) ": "; color: var(--faint); }
}
@media print { form, .skip { display: none !important; } }
`;
