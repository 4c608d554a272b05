// Its dependencies are in local/toolchain/go/kyverno/go.mod, which builds Kyverno's programs (support/kyverno.ts).
module kyverno
