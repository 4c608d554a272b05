/**
 * Graviton families have a g behind the generation: m7g, t4g, c6gn. The first one, a1, came before that rule, and p6e-gb200 has Grace. The
 * definition of the Spoke API has the same expression.
 */
export const arm = /^(a1|p6e-gb[0-9]+|[a-z]+[0-9]+[a-z]*g[a-z]*)(-|[.])/;

/** Whether an EC2 instance type has an Arm processor, by its name. */
export const isArm = (instanceType: string): boolean => arm.test(instanceType);

/**
 * Families for which EKS has AMIs with NVIDIA's drivers: P and G, but for those from before p3 and g4dn, and g4ad, which has AMD's (EKS User
 * Guide, "Use EKS-optimized accelerated AMIs for GPU instances"). The definition of the Spoke API has the same expression.
 */
export const nvidia = /^(g4dn|gr?[5-9][a-z]*|p[3-9][a-z]*)(-|[.])/;

/** Whether an EC2 instance type has NVIDIA GPUs, by its name. */
export const hasNvidia = (instanceType: string): boolean => nvidia.test(instanceType);
