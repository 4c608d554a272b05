// cert-manager's controller. Upstream's main is in a module of its own, which the proxy doesn't have; this one has the flags
// that the chart sets, and refuses others: no configuration file, no profiler, no Gateway API.
package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"slices"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	config "github.com/cert-manager/cert-manager/internal/apis/config/controller"
	"github.com/cert-manager/cert-manager/internal/cmd/util"
	"github.com/cert-manager/cert-manager/pkg/controller"
	"github.com/cert-manager/cert-manager/pkg/healthz"
	_ "github.com/cert-manager/cert-manager/pkg/issuer/acme"
	_ "github.com/cert-manager/cert-manager/pkg/issuer/ca"
	_ "github.com/cert-manager/cert-manager/pkg/issuer/selfsigned"
	logf "github.com/cert-manager/cert-manager/pkg/logs"
)

func main() {
	ctx, exit := util.SetupExitHandler(context.Background(), util.GracefulShutdown)
	defer exit()
	logf.InitLogs()
	defer logf.FlushLogs()
	if err := run(logf.NewContext(ctx, logf.Log, "controller"), os.Args[1:]); err != nil {
		logf.Log.Error(err, "the controller ends")
		util.SetExitCode(err)
	}
}

func run(ctx context.Context, args []string) error {
	options, err := parse(args)
	if err != nil {
		return err
	}
	settings, err := contextOptions(options)
	if err != nil {
		return err
	}
	work, ctx := errgroup.WithContext(ctx)
	factory, err := controller.NewContextFactory(ctx, settings)
	if err != nil {
		return err
	}
	base, err := factory.Build()
	if err != nil {
		return err
	}
	health := healthz.NewServer(options.LeaderElectionConfig.HealthzTimeout)
	if err := serve(ctx, work, options, base, health); err != nil {
		return err
	}
	work.Go(func() error { return lead(ctx, work, options, factory, base, health) })
	return work.Wait()
}

// serve answers the liveness probe and gives metrics, also without leading.
func serve(ctx context.Context, work *errgroup.Group, options *config.ControllerConfiguration, base *controller.Context, health *healthz.Server) error {
	probes, err := net.Listen("tcp", options.HealthzListenAddress)
	if err != nil {
		return err
	}
	work.Go(func() error { return health.Start(ctx, probes) })
	listener, err := net.Listen("tcp", options.MetricsListenAddress)
	if err != nil {
		return err
	}
	certificates := base.SharedInformerFactory.Certmanager().V1().Certificates().Lister()
	challenges := base.SharedInformerFactory.Acme().V1().Challenges().Lister()
	base.Metrics.SetupCertificateCollector(certificates)
	base.Metrics.SetupACMECollector(challenges)
	metrics := base.Metrics.NewServer(listener)
	work.Go(func() error {
		<-ctx.Done()
		return metrics.Close()
	})
	work.Go(func() error {
		if err := metrics.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	})
	return nil
}

// lead waits until it leads and runs the controllers; it ends with the lease.
func lead(ctx context.Context, work *errgroup.Group, options *config.ControllerConfiguration, factory *controller.ContextFactory, base *controller.Context, health *healthz.Server) error {
	start := func(ctx context.Context) {
		work.Go(func() error { return startControllers(ctx, work, options, factory, base) })
	}
	election := options.LeaderElectionConfig
	if !election.Enabled {
		start(ctx)
		return nil
	}
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	client, err := factory.Build("leader-election")
	if err != nil {
		return err
	}
	lock, err := resourcelock.New(resourcelock.LeasesResourceLock, election.Namespace, "cert-manager-controller",
		client.Client.CoreV1(), client.Client.CoordinationV1(),
		resourcelock.ResourceLockConfig{Identity: host + "-cert-manager-controller", EventRecorder: client.Recorder})
	if err != nil {
		return err
	}
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock:            lock,
		LeaseDuration:   election.LeaseDuration,
		RenewDeadline:   election.RenewDeadline,
		RetryPeriod:     election.RetryPeriod,
		ReleaseOnCancel: true,
		WatchDog:        health.LeaderHealthzAdaptor,
		Callbacks:       leaderelection.LeaderCallbacks{OnStartedLeading: start, OnStoppedLeading: func() {}},
	})
	if err != nil {
		return err
	}
	elector.Run(ctx)
	if ctx.Err() == nil {
		return errors.New("the lease is lost")
	}
	return nil
}

func startControllers(ctx context.Context, work *errgroup.Group, options *config.ControllerConfiguration, factory *controller.ContextFactory, base *controller.Context) error {
	enabled, known := enabledControllers(options.Controllers), controller.Known()
	for _, name := range enabled {
		construct, ok := known[name]
		if !ok {
			return fmt.Errorf("--controllers: there is no controller %s; there are %v", name, slices.Sorted(maps.Keys(known)))
		}
		one, err := construct(factory)
		if err != nil {
			return fmt.Errorf("controller %s: %w", name, err)
		}
		work.Go(func() error { return one.Run(options.NumberOfConcurrentWorkers, ctx) })
	}
	logf.FromContext(ctx).Info("started", "controllers", enabled)
	base.SharedInformerFactory.Start(ctx.Done())
	base.KubeSharedInformerFactory.Start(ctx.Done())
	base.HTTP01ResourceMetadataInformersFactory.Start(ctx.Done())
	return nil
}
