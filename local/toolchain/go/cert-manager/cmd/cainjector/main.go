// cert-manager's CA injector. Upstream's main is in a module of its own, which the proxy doesn't have; this one has the flags
// that the chart sets, and refuses others.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	kubernetes "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/component-base/cli/flag"
	apiregistration "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	config "github.com/cert-manager/cert-manager/internal/apis/config/cainjector"
	"github.com/cert-manager/cert-manager/internal/apis/config/cainjector/scheme"
	"github.com/cert-manager/cert-manager/internal/apis/config/cainjector/validation"
	"github.com/cert-manager/cert-manager/internal/cmd/util"
	"github.com/cert-manager/cert-manager/pkg/apis/config/cainjector/v1alpha1"
	certmanager "github.com/cert-manager/cert-manager/pkg/client/clientset/versioned/scheme"
	"github.com/cert-manager/cert-manager/pkg/controller/cainjector"
	logf "github.com/cert-manager/cert-manager/pkg/logs"
	"github.com/cert-manager/cert-manager/pkg/util/feature"
)

func main() {
	ctx, exit := util.SetupExitHandler(context.Background(), util.GracefulShutdown)
	defer exit()
	logf.InitLogs()
	defer logf.FlushLogs()
	ctrl.SetLogger(logf.Log)
	if err := run(logf.NewContext(ctx, logf.Log, "cainjector"), os.Args[1:]); err != nil {
		logf.Log.Error(err, "the CA injector ends")
		util.SetExitCode(err)
	}
}

func run(ctx context.Context, args []string) error {
	options, err := parse(args)
	if err != nil {
		return err
	}
	manager, err := ctrl.NewManager(ctrl.GetConfigOrDie(), managerOptions(options))
	if err != nil {
		return err
	}
	err = cainjector.RegisterAllInjectors(ctx, manager, cainjector.SetupOptions{
		Namespace:                    options.Namespace,
		EnableCertificatesDataSource: options.EnableDataSourceConfig.Certificates,
		EnabledReconcilersFor: map[string]bool{
			cainjector.APIServiceName:                     options.EnableInjectableConfig.APIServices,
			cainjector.CustomResourceDefinitionName:       options.EnableInjectableConfig.CustomResourceDefinitions,
			cainjector.MutatingWebhookConfigurationName:   options.EnableInjectableConfig.MutatingWebhookConfigurations,
			cainjector.ValidatingWebhookConfigurationName: options.EnableInjectableConfig.ValidatingWebhookConfigurations,
		},
	})
	if err != nil {
		return err
	}
	return manager.Start(ctx)
}

func managerOptions(options *config.CAInjectorConfiguration) ctrl.Options {
	kinds := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		kubernetes.AddToScheme, certmanager.AddToScheme, apiextensions.AddToScheme, apiregistration.AddToScheme,
	} {
		utilruntime.Must(add(kinds))
	}
	namespaces := map[string]cache.Config{}
	if options.Namespace != "" {
		namespaces[options.Namespace] = cache.Config{}
	}
	election := options.LeaderElectionConfig
	return ctrl.Options{
		Scheme: kinds,
		Cache:  cache.Options{ReaderFailOnMissingInformer: true, DefaultNamespaces: namespaces},
		// A cache of Secrets would list all of them.
		Client:                        client.Options{Cache: &client.CacheOptions{DisableFor: []client.Object{&corev1.Secret{}}}},
		Metrics:                       server.Options{BindAddress: options.MetricsListenAddress},
		LeaderElection:                election.Enabled,
		LeaderElectionID:              "cert-manager-cainjector-leader-election",
		LeaderElectionNamespace:       election.Namespace,
		LeaderElectionReleaseOnCancel: true,
		LeaseDuration:                 &election.LeaseDuration,
		RenewDeadline:                 &election.RenewDeadline,
		RetryPeriod:                   &election.RetryPeriod,
	}
}

func parse(args []string) (*config.CAInjectorConfiguration, error) {
	options, err := defaults()
	if err != nil {
		return nil, err
	}
	flags := pflag.NewFlagSet("cainjector", pflag.ContinueOnError)
	flags.StringVar(&options.Namespace, "namespace", options.Namespace, "watch this namespace alone")
	election := &options.LeaderElectionConfig
	flags.BoolVar(&election.Enabled, "leader-elect", election.Enabled, "elect a leader")
	flags.StringVar(&election.Namespace, "leader-election-namespace", election.Namespace, "where the lease is")
	flags.DurationVar(&election.LeaseDuration, "leader-election-lease-duration", election.LeaseDuration, "how long a lease holds")
	flags.DurationVar(&election.RenewDeadline, "leader-election-renew-deadline", election.RenewDeadline, "how long the leader tries to renew")
	flags.DurationVar(&election.RetryPeriod, "leader-election-retry-period", election.RetryPeriod, "the pause between tries")
	flags.BoolVar(&options.EnableDataSourceConfig.Certificates, "enable-certificates-data-source", options.EnableDataSourceConfig.Certificates, "take CAs from Certificates")
	flags.StringVar(&options.MetricsListenAddress, "metrics-listen-address", options.MetricsListenAddress, "where metrics are served, 0 for nowhere")
	flags.Var(flag.NewMapStringBool(&options.FeatureGates), "feature-gates", "features, as name=true")
	logf.AddFlags(&options.Logging, flags)
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	if err := feature.DefaultMutableFeatureGate.SetFromMap(options.FeatureGates); err != nil {
		return nil, fmt.Errorf("--feature-gates: %w", err)
	}
	if problems := validation.ValidateCAInjectorConfiguration(options, nil); len(problems) > 0 {
		return nil, problems.ToAggregate()
	}
	return options, logf.ValidateAndApply(&options.Logging)
}

func defaults() (*config.CAInjectorConfiguration, error) {
	known, _, err := scheme.NewSchemeAndCodecs()
	if err != nil {
		return nil, err
	}
	versioned, options := &v1alpha1.CAInjectorConfiguration{}, &config.CAInjectorConfiguration{}
	known.Default(versioned)
	return options, known.Convert(versioned, options, nil)
}
