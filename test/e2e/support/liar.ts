/** A pod that exposes what it likes: node-exporter reads it from a file. */
export const liar = (metrics: string) => ({
  apiVersion: "v1",
  kind: "List",
  items: [
    {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "liar", namespace: "default" },
      data: { "liar.prom": metrics },
    },
    {
      apiVersion: "v1",
      kind: "Pod",
      metadata: {
        name: "liar",
        namespace: "default",
        annotations: { "prometheus.io/scrape": "true", "prometheus.io/port": "9898" },
      },
      spec: {
        containers: [
          {
            name: "liar",
            image: "quay.io/prometheus/node-exporter:v1.12.1",
            args: [
              "--collector.disable-defaults",
              "--collector.textfile",
              "--collector.textfile.directory=/text",
              "--web.listen-address=:9898",
            ],
            volumeMounts: [{ name: "text", mountPath: "/text" }],
          },
        ],
        volumes: [{ name: "text", configMap: { name: "liar" } }],
      },
    },
  ],
});
