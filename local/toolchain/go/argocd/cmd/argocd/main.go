// Argo CD's programs in one binary, as upstream's (github.com/argoproj/argo-cd/v3/cmd), without the API server, the web UI and the CLI. The
// name under which it is called says which program it is; ARGOCD_BINARY_NAME wins.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/klog/v2"

	controller "github.com/argoproj/argo-cd/v3/cmd/argocd-application-controller/commands"
	applicationset "github.com/argoproj/argo-cd/v3/cmd/argocd-applicationset-controller/commands"
	gitaskpass "github.com/argoproj/argo-cd/v3/cmd/argocd-git-ask-pass/commands"
	k8sauth "github.com/argoproj/argo-cd/v3/cmd/argocd-k8s-auth/commands"
	reposerver "github.com/argoproj/argo-cd/v3/cmd/argocd-repo-server/commands"
	"github.com/argoproj/argo-cd/v3/util/log"
)

var programs = map[string]func() *cobra.Command{
	"argocd-application-controller":    controller.NewCommand,
	"argocd-applicationset-controller": applicationset.NewCommand,
	"argocd-git-ask-pass":              gitaskpass.NewCommand,
	"argocd-k8s-auth":                  k8sauth.NewCommand,
	"argocd-repo-server":               reposerver.NewCommand,
}

func main() {
	klog.SetLogger(log.NewLogrusLogger(log.NewWithCurrentConfig()))
	name := filepath.Base(os.Args[0])
	if given := os.Getenv("ARGOCD_BINARY_NAME"); given != "" {
		name = given
	}
	program, ok := programs[name]
	if !ok {
		names := make([]string, 0, len(programs))
		for each := range programs {
			names = append(names, each)
		}
		slices.Sort(names)
		fmt.Fprintf(os.Stderr, "no program of Argo CD is called %q: call it as %s\n", name, strings.Join(names, ", "))
		os.Exit(2)
	}
	if err := program().Execute(); err != nil {
		os.Exit(1)
	}
}
