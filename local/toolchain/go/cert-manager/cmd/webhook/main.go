// cert-manager's webhook. Upstream's main is in a module of its own, which the proxy doesn't have; this one takes flags alone, no file.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/pflag"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/cert-manager/cert-manager/internal/apis/config/webhook/validation"
	"github.com/cert-manager/cert-manager/internal/cmd/util"
	"github.com/cert-manager/cert-manager/internal/webhook"
	logf "github.com/cert-manager/cert-manager/pkg/logs"
	"github.com/cert-manager/cert-manager/pkg/util/feature"
	"github.com/cert-manager/cert-manager/pkg/webhook/options"
)

func main() {
	ctx, exit := util.SetupExitHandler(context.Background(), util.GracefulShutdown)
	defer exit()
	logf.InitLogs()
	defer logf.FlushLogs()
	ctrl.SetLogger(logf.Log)
	if err := run(logf.NewContext(ctx, logf.Log, "webhook"), os.Args[1:]); err != nil {
		logf.Log.Error(err, "the webhook ends")
		util.SetExitCode(err)
	}
}

func run(ctx context.Context, args []string) error {
	config, err := options.NewWebhookConfiguration()
	if err != nil {
		return err
	}
	flags := pflag.NewFlagSet("webhook", pflag.ContinueOnError)
	options.AddConfigFlags(flags, config)
	if err := flags.Parse(args); err != nil {
		return err
	}
	if err := feature.DefaultMutableFeatureGate.SetFromMap(config.FeatureGates); err != nil {
		return fmt.Errorf("--feature-gates: %w", err)
	}
	if problems := validation.ValidateWebhookConfiguration(config, nil); len(problems) > 0 {
		return problems.ToAggregate()
	}
	if err := logf.ValidateAndApply(&config.Logging); err != nil {
		return err
	}
	server, err := webhook.NewCertManagerWebhookServer(logf.FromContext(ctx), *config)
	if err != nil {
		return err
	}
	return server.Run(ctx)
}
