// Etcd is upstream's main under the name that people look for: built from its own path it would be called "server".
package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

func main() {
	etcdmain.Main(os.Args)
}
