package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/component-base/cli/flag"

	config "github.com/cert-manager/cert-manager/internal/apis/config/controller"
	"github.com/cert-manager/cert-manager/internal/apis/config/controller/scheme"
	defaulted "github.com/cert-manager/cert-manager/internal/apis/config/controller/v1alpha1"
	"github.com/cert-manager/cert-manager/internal/apis/config/controller/validation"
	"github.com/cert-manager/cert-manager/pkg/apis/config/controller/v1alpha1"
	"github.com/cert-manager/cert-manager/pkg/controller"
	"github.com/cert-manager/cert-manager/pkg/issuer/acme/dns/util"
	logf "github.com/cert-manager/cert-manager/pkg/logs"
	"github.com/cert-manager/cert-manager/pkg/util/feature"
)

func parse(args []string) (*config.ControllerConfiguration, error) {
	options, err := defaults()
	if err != nil {
		return nil, err
	}
	flags := flagsOf(options)
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	if err := feature.DefaultMutableFeatureGate.SetFromMap(options.FeatureGates); err != nil {
		return nil, fmt.Errorf("--feature-gates: %w", err)
	}
	if problems := validation.ValidateControllerConfiguration(options, nil); len(problems) > 0 {
		return nil, problems.ToAggregate()
	}
	return options, logf.ValidateAndApply(&options.Logging)
}

func defaults() (*config.ControllerConfiguration, error) {
	known, _, err := scheme.NewSchemeAndCodecs()
	if err != nil {
		return nil, err
	}
	versioned, options := &v1alpha1.ControllerConfiguration{}, &config.ControllerConfiguration{}
	known.Default(versioned)
	return options, known.Convert(versioned, options, nil)
}

// flagsOf are the flags by the names that upstream has for them.
func flagsOf(c *config.ControllerConfiguration) *pflag.FlagSet {
	flags := pflag.NewFlagSet("controller", pflag.ContinueOnError)
	text := func(value *string, name, usage string) { flags.StringVar(value, name, *value, usage) }
	yes := func(value *bool, name, usage string) { flags.BoolVar(value, name, *value, usage) }
	list := func(value *[]string, name, usage string) { flags.StringSliceVar(value, name, *value, usage) }

	text(&c.Namespace, "namespace", "watch this namespace alone")
	text(&c.ClusterResourceNamespace, "cluster-resource-namespace", "where the Secrets of ClusterIssuers are")
	text(&c.MetricsListenAddress, "metrics-listen-address", "where metrics are served")
	list(&c.Controllers, "controllers", "controllers, * for the usual ones, -name to leave one out")
	flags.IntVar(&c.MaxConcurrentChallenges, "max-concurrent-challenges", c.MaxConcurrentChallenges, "challenges at a time")
	yes(&c.EnableCertificateOwnerRef, "enable-certificate-owner-ref", "Secrets go with their Certificate")

	election := &c.LeaderElectionConfig
	yes(&election.Enabled, "leader-elect", "elect a leader")
	text(&election.Namespace, "leader-election-namespace", "where the lease is")
	flags.DurationVar(&election.LeaseDuration, "leader-election-lease-duration", election.LeaseDuration, "how long a lease holds")
	flags.DurationVar(&election.RenewDeadline, "leader-election-renew-deadline", election.RenewDeadline, "how long the leader tries to renew")
	flags.DurationVar(&election.RetryPeriod, "leader-election-retry-period", election.RetryPeriod, "the pause between tries")

	yes(&c.ClusterIssuerAmbientCredentials, "cluster-issuer-ambient-credentials", "ClusterIssuers may use the pod's role")
	yes(&c.IssuerAmbientCredentials, "issuer-ambient-credentials", "Issuers may use the pod's role")
	http := &c.ACMEHTTP01Config
	text(&http.SolverImage, "acme-http01-solver-image", "image of the pods that answer HTTP01 challenges")
	text(&http.SolverRuntimeClassName, "acme-http01-solver-runtime-class-name", "their runtime class")
	flags.StringToStringVar(&http.SolverExtraLabels, "acme-http01-solver-extra-labels", http.SolverExtraLabels, "labels of these pods and their Services and routes")
	dns := &c.ACMEDNS01Config
	list(&dns.RecursiveNameservers, "dns01-recursive-nameservers", "name servers that DNS01 challenges are checked with")
	yes(&dns.RecursiveNameserversOnly, "dns01-recursive-nameservers-only", "ask no authoritative name servers")
	flags.DurationVar(&dns.CheckRetryPeriod, "dns01-check-retry-period", dns.CheckRetryPeriod, "the pause between checks")

	shim := &c.IngressShimConfig
	text(&shim.DefaultIssuerName, "default-issuer-name", "issuer of Ingresses that name none")
	text(&shim.DefaultIssuerKind, "default-issuer-kind", "its kind")
	text(&shim.DefaultIssuerGroup, "default-issuer-group", "its API group")

	flags.Var(flag.NewMapStringBool(&c.FeatureGates), "feature-gates", "features, as name=true")
	logf.AddFlags(&c.Logging, flags)
	return flags
}

// enabledControllers are the usual controllers without those that a list leaves out, and those that it names besides.
func enabledControllers(list []string) []string {
	var enabled []string
	only := slices.ContainsFunc(list, func(name string) bool { return name != "*" && !strings.HasPrefix(name, "-") })
	if !only || slices.Contains(list, "*") {
		enabled = append(enabled, defaulted.DefaultEnabledControllers...)
	}
	for _, name := range list {
		if name != "*" && !strings.HasPrefix(name, "-") {
			enabled = append(enabled, name)
		}
	}
	return slices.DeleteFunc(enabled, func(name string) bool { return slices.Contains(list, "-"+name) })
}

func contextOptions(c *config.ControllerConfiguration) (controller.ContextOptions, error) {
	http, dns, shim := c.ACMEHTTP01Config, c.ACMEDNS01Config, c.IngressShimConfig
	nameservers := dns.RecursiveNameservers
	if len(nameservers) == 0 {
		nameservers = util.RecursiveNameservers
	}
	var problems []error
	quantity := func(text string) resource.Quantity {
		value, err := resource.ParseQuantity(text)
		problems = append(problems, err)
		return value
	}
	options := controller.ContextOptions{
		Kubeconfig:         c.KubeConfig,
		APIServerHost:      c.APIServerHost,
		KubernetesAPIQPS:   c.KubernetesAPIQPS,
		KubernetesAPIBurst: c.KubernetesAPIBurst,
		Namespace:          c.Namespace,
		ACMEOptions: controller.ACMEOptions{
			HTTP01SolverImage:                 http.SolverImage,
			HTTP01SolverNameservers:           http.SolverNameservers,
			HTTP01SolverRuntimeClassName:      http.SolverRuntimeClassName,
			HTTP01SolverExtraLabels:           http.SolverExtraLabels,
			HTTP01SolverResourceRequestCPU:    quantity(http.SolverResourceRequestCPU),
			HTTP01SolverResourceRequestMemory: quantity(http.SolverResourceRequestMemory),
			HTTP01SolverResourceLimitsCPU:     quantity(http.SolverResourceLimitsCPU),
			HTTP01SolverResourceLimitsMemory:  quantity(http.SolverResourceLimitsMemory),
			ACMEHTTP01SolverRunAsNonRoot:      http.SolverRunAsNonRoot,
			DNS01Nameservers:                  nameservers,
			DNS01CheckAuthoritative:           !dns.RecursiveNameserversOnly,
			DNS01CheckRetryPeriod:             dns.CheckRetryPeriod,
		},
		IssuerOptions: controller.IssuerOptions{
			ClusterResourceNamespace:        c.ClusterResourceNamespace,
			ClusterIssuerAmbientCredentials: c.ClusterIssuerAmbientCredentials,
			IssuerAmbientCredentials:        c.IssuerAmbientCredentials,
		},
		IngressShimOptions: controller.IngressShimOptions{
			DefaultIssuerName:                 shim.DefaultIssuerName,
			DefaultIssuerKind:                 shim.DefaultIssuerKind,
			DefaultIssuerGroup:                shim.DefaultIssuerGroup,
			DefaultAutoCertificateAnnotations: shim.DefaultAutoCertificateAnnotations,
			ExtraCertificateAnnotations:       shim.ExtraCertificateAnnotations,
		},
		CertificateOptions: controller.CertificateOptions{
			EnableOwnerRef:                           c.EnableCertificateOwnerRef,
			CopiedAnnotationPrefixes:                 c.CopiedAnnotationPrefixes,
			CertificateRequestMinimumBackoffDuration: c.CertificateRequestMinimumBackoffDuration,
			CertificateRequestMaximumBackoffDuration: c.CertificateRequestMaximumBackoffDuration,
		},
		SchedulerOptions: controller.SchedulerOptions{MaxConcurrentChallenges: c.MaxConcurrentChallenges},
	}
	return options, errors.Join(problems...)
}
