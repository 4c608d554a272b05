// What Argo CD keeps its cache in, in place of Redis, by the library that its own tests use: nothing is written to disk. It listens at the
// address that is its only argument, until it is ended.
package main

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/alicebob/miniredis/v2"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintf(os.Stderr, "got %d arguments: argocd-redis takes one, the address to listen at, such as 127.0.0.1:6379\n", len(os.Args)-1)
		os.Exit(2)
	}
	server := miniredis.NewMiniRedis()
	if err := server.StartAddr(os.Args[1]); err != nil {
		fmt.Fprintf(os.Stderr, "listening at %s: %v\n", os.Args[1], err)
		os.Exit(1)
	}
	defer server.Close()
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGINT, syscall.SIGTERM)
	<-ended
}
