// Network-policy enforces the NetworkPolicies of a node's pods: kube-router's controller for them, and nothing else of it.
//
// It stands in for the node agent of the VPC CNI. It runs in the node's network namespace, with iptables, iptables-save,
// iptables-restore and ipset on PATH.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/cloudnativelabs/kube-router/v2/pkg/controllers/netpol"
	"github.com/cloudnativelabs/kube-router/v2/pkg/healthcheck"
	"github.com/cloudnativelabs/kube-router/v2/pkg/options"
	"github.com/cloudnativelabs/kube-router/v2/pkg/utils"
	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
)

// The controller only logs a failed write of the rules; the next write comes with the next event, or after this time.
const resync = 30 * time.Second

// Comment of a rule in FORWARD that is first there when a write of all rules, which is one step, has come to its end.
const lastRule = "explicitly ACCEPT traffic that comply to network policies"

func main() {
	kubeconfig := flag.String("kubeconfig", "", "may list and watch pods, namespaces and networkpolicies, and get nodes")
	node := flag.String("node", "", "name of this node's Node object")
	services := flag.String("service-cidr", "", "range of the cluster's Service addresses")
	socket := flag.String("ready-socket", "", "unix socket that accepts connections once the rules of all present pods are written")
	flag.Parse()
	defer klog.Flush()
	if err := run(*kubeconfig, *node, *services, *socket); err != nil {
		klog.Exit(err)
	}
}

func run(kubeconfig, node, services, socket string) error {
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer cancel()
	// A killed run leaves its socket.
	if err := os.Remove(socket); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("--ready-socket: %w", err)
	}
	rest, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return fmt.Errorf("--kubeconfig %s can't be used: %w", kubeconfig, err)
	}
	client, err := kubernetes.NewForConfig(rest)
	if err != nil {
		return fmt.Errorf("--kubeconfig %s can't be used: %w", kubeconfig, err)
	}
	config := options.NewKubeRouterConfig()
	config.EnableIPv4 = true
	config.HostnameOverride = node
	config.ClusterIPCIDRs = []string{services}
	config.IPTablesSyncPeriod = resync

	factory := informers.NewSharedInformerFactory(client, 0)
	pods := factory.Core().V1().Pods().Informer()
	namespaces := factory.Core().V1().Namespaces().Informer()
	policies := factory.Networking().V1().NetworkPolicies().Informer()
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())

	commands, sets, err := netpol.NewIPTablesHandlers(config)
	if err != nil {
		return err
	}
	controller, err := netpol.NewNetworkPolicyController(
		client, config, pods, policies, namespaces, &sync.Mutex{}, nil, commands, sets)
	if err != nil {
		return fmt.Errorf("node %s: %w", node, err)
	}
	for informer, handler := range map[cache.SharedIndexInformer]cache.ResourceEventHandler{
		pods:       controller.PodEventHandler,
		namespaces: controller.NamespaceEventHandler,
		policies:   controller.NetworkPolicyEventHandler,
	} {
		if _, err := informer.AddEventHandler(handler); err != nil {
			return err
		}
	}
	// Each write begins with a heartbeat and waits until it is received.
	beats := make(chan *healthcheck.ControllerHeartbeat)
	go func() {
		for range beats {
		}
	}()
	var controllers sync.WaitGroup
	controllers.Add(1)
	go controller.Run(beats, ctx.Done(), &controllers)
	if err := announce(ctx, commands[v1.IPv4Protocol], socket); err != nil {
		return err
	}
	controllers.Wait()
	return nil
}

// Listens on the socket once the first write of the rules has come to its end, until the context is done.
func announce(ctx context.Context, iptables utils.IPTablesHandler, socket string) error {
	for !written(iptables) {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(100 * time.Millisecond):
		}
	}
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return fmt.Errorf("--ready-socket %s: %w", socket, err)
	}
	context.AfterFunc(ctx, func() { listener.Close() })
	for {
		connection, err := listener.Accept()
		if err != nil {
			return nil
		}
		connection.Close()
	}
}

func written(iptables utils.IPTablesHandler) bool {
	rules, err := iptables.List("filter", "FORWARD")
	return err == nil && strings.Contains(strings.Join(rules, "\n"), lastRule)
}
