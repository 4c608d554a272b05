// Judges requests by Kyverno policies (policies.kyverno.io), with Kyverno's own CEL environment and compiler. Kyverno's engine
// around it (webhooks, matching by kind and namespace, reports) is not here: its packages take minutes to build. It runs in
// kyverno-webhooks.long.test.ts.
// stdin: {"policies", "parameters": the ConfigMap that they read, "requests": [{"policy", "object", "from": the object that it
// changes, if it does not make one}]}.
// stdout: for each request the reason why it is refused, empty when it passes.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/kyverno/kyverno/pkg/cel/compiler"
	"github.com/kyverno/sdk/extensions/cel/libs/resource"
	"github.com/kyverno/sdk/extensions/cel/utils"
	admission "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/version"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/lazy"
)

type policy struct {
	Metadata struct{ Name string }
	Spec     struct {
		MatchConditions []admission.MatchCondition
		Variables       []admission.Variable
		Validations     []admission.Validation
	}
}

type input struct {
	Policies   []policy
	Parameters map[string]any
	Requests   []struct {
		Policy string
		Object map[string]any
		From   map[string]any
	}
}

// The cluster of the policies: one ConfigMap.
type cluster struct{ configMap map[string]any }

var errAbsent = errors.New("not found")

func (c cluster) GetResource(apiVersion, kind, namespace, name string) (*unstructured.Unstructured, error) {
	found := &unstructured.Unstructured{Object: c.configMap}
	if apiVersion != "v1" || kind != "configmaps" || namespace != found.GetNamespace() || name != found.GetName() {
		return nil, fmt.Errorf("%s %s %s/%s: %w", apiVersion, kind, namespace, name, errAbsent)
	}
	return found, nil
}

func (cluster) ListResources(string, string, string, map[string]string) (*unstructured.UnstructuredList, error) {
	return nil, errAbsent
}

func (cluster) PostResource(string, string, string, map[string]any) (*unstructured.Unstructured, error) {
	return nil, errAbsent
}

func (cluster) ToGVR(string, string) (*schema.GroupVersionResource, error) { return nil, errAbsent }

type compiled struct {
	conditions  []cel.Program
	variables   map[string]cel.Program
	validations []compiler.Validation
}

func compile(p policy, parameters map[string]any) (*compiled, error) {
	first := version.MajorMinor(1, 0)
	base := environment.MustBaseEnvSet(first)
	plain, err := base.Env(environment.StoredExpressions)
	if err != nil {
		return nil, err
	}
	provider := compiler.NewVariablesProvider(plain.CELTypeProvider())
	declared, err := apiservercel.NewDeclTypeProvider(compiler.NamespaceType, compiler.RequestType).EnvOptions(provider)
	if err != nil {
		return nil, err
	}
	options := append(compiler.DefaultEnvOptionsWithCompat(), declared...)
	options = append(options,
		cel.Variable(compiler.ObjectKey, cel.DynType),
		cel.Variable(compiler.OldObjectKey, cel.DynType),
		cel.Variable(compiler.RequestKey, compiler.RequestType.CelType()),
		cel.Variable(compiler.VariablesKey, compiler.VariablesType),
		resource.Lib(resource.Context{ContextInterface: cluster{parameters}}, "", resource.Latest()),
	)
	extended, err := base.Extend(environment.VersionedOptions{IntroducedVersion: first, EnvOptions: options})
	if err != nil {
		return nil, err
	}
	env, err := extended.Env(environment.StoredExpressions)
	if err != nil {
		return nil, err
	}
	var out compiled
	conditions, problems := compiler.CompileMatchConditions(nil, env, p.Spec.MatchConditions...)
	if problems != nil {
		return nil, problems.ToAggregate()
	}
	out.conditions = conditions
	if out.variables, problems = compiler.CompileVariables(nil, env, provider, p.Spec.Variables...); problems != nil {
		return nil, problems.ToAggregate()
	}
	for _, rule := range p.Spec.Validations {
		validation, problems := compiler.CompileValidation(nil, env, rule)
		if problems != nil {
			return nil, problems.ToAggregate()
		}
		out.validations = append(out.validations, validation)
	}
	return &out, nil
}

func evaluate[T any](program cel.Program, data map[string]any) (T, error) {
	value, _, err := program.ContextEval(context.Background(), data)
	if err != nil {
		var none T
		return none, err
	}
	return utils.ConvertToNative[T](value)
}

// The reason to refuse a request to make the object, or to change it from an older one; an expression that fails refuses too
// (failurePolicy: Fail).
func (c *compiled) refusal(object, from map[string]any) (string, error) {
	variables := lazy.NewMapValue(compiler.VariablesType)
	data := map[string]any{
		compiler.ObjectKey:    object,
		compiler.OldObjectKey: nil,
		compiler.RequestKey:   map[string]any{"operation": "CREATE"},
		compiler.VariablesKey: variables,
	}
	if from != nil {
		data[compiler.OldObjectKey] = from
		data[compiler.RequestKey] = map[string]any{"operation": "UPDATE"}
	}
	for name, program := range c.variables {
		variables.Append(name, func(*lazy.MapValue) ref.Val {
			value, _, err := program.ContextEval(context.Background(), data)
			if err != nil {
				return types.WrapErr(err)
			}
			return value
		})
	}
	for _, condition := range c.conditions {
		if matches, err := evaluate[bool](condition, data); err != nil || !matches {
			return "", err
		}
	}
	for _, validation := range c.validations {
		passes, err := evaluate[bool](validation.Program, data)
		switch {
		case err != nil:
			return err.Error(), nil
		case !passes && validation.MessageExpression != nil:
			message, err := evaluate[string](validation.MessageExpression, data)
			if err != nil {
				return err.Error(), nil
			}
			return message, nil
		case !passes:
			return validation.Message, nil
		}
	}
	return "", nil
}

func run() error {
	var in input
	if err := json.NewDecoder(os.Stdin).Decode(&in); err != nil {
		return err
	}
	policies := map[string]*compiled{}
	for _, p := range in.Policies {
		made, err := compile(p, in.Parameters)
		if err != nil {
			return fmt.Errorf("policy %s: %w", p.Metadata.Name, err)
		}
		policies[p.Metadata.Name] = made
	}
	refusals := make([]string, len(in.Requests))
	for i, request := range in.Requests {
		judge, known := policies[request.Policy]
		if !known {
			return fmt.Errorf("there is no policy %s", request.Policy)
		}
		var err error
		if refusals[i], err = judge.refusal(request.Object, request.From); err != nil {
			return fmt.Errorf("request %d to policy %s: %w", i, request.Policy, err)
		}
	}
	return json.NewEncoder(os.Stdout).Encode(refusals)
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
