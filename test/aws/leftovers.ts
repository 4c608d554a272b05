import { type Kind, kinds, namesOf } from "../support/inventory-lines.ts";

/** How one thing of a kind is removed by hand, once nothing holds it any more. */
const commands: Readonly<Record<Kind, (name: string) => string>> = {
  instance: (id) => `aws ec2 terminate-instances --instance-ids ${id}`,
  cluster: (name) =>
    `aws eks delete-cluster --name ${name}   # its node groups first: aws eks list-nodegroups --cluster-name ${name}`,
  "launch template": (name) => `aws ec2 delete-launch-template --launch-template-name ${name}`,
  volume: (id) => `aws ec2 delete-volume --volume-id ${id}`,
  "network interface": (id) => `aws ec2 delete-network-interface --network-interface-id ${id}`,
  "security group": (name) =>
    `aws ec2 describe-security-groups --filters Name=group-name,Values=${name}   # then aws ec2 delete-security-group --group-id <id>; a VPC's default one goes with it`,
  "flow log": (id) => `aws ec2 delete-flow-logs --flow-log-ids ${id}`,
  "NAT gateway": (id) => `aws ec2 delete-nat-gateway --nat-gateway-id ${id}`,
  address: (id) => `aws ec2 release-address --allocation-id ${id}`,
  "VPC endpoint": (id) => `aws ec2 delete-vpc-endpoints --vpc-endpoint-ids ${id}`,
  "internet gateway": (id) =>
    `aws ec2 delete-internet-gateway --internet-gateway-id ${id}   # aws ec2 detach-internet-gateway first`,
  "transit gateway attachment": (id) =>
    `aws ec2 delete-transit-gateway-vpc-attachment --transit-gateway-attachment-id ${id}`,
  subnet: (id) => `aws ec2 delete-subnet --subnet-id ${id}`,
  "route table": (id) => `aws ec2 delete-route-table --route-table-id ${id}   # a VPC's main one goes with it`,
  VPC: (id) => `aws ec2 delete-vpc --vpc-id ${id}`,
  "OIDC provider": (arn) => `aws iam delete-open-id-connect-provider --open-id-connect-provider-arn ${arn}`,
  role: (name) =>
    `aws iam delete-role --role-name ${name}   # its policies first: aws iam list-role-policies, list-attached-role-policies`,
  policy: (name) =>
    `aws iam list-policies --scope Local --query "Policies[?PolicyName=='${name}'].Arn"   # then aws iam delete-policy --policy-arn <ARN>`,
  secret: (name) => `aws secretsmanager delete-secret --secret-id ${name} --force-delete-without-recovery`,
  alias: (name) => `aws kms delete-alias --alias-name ${name}`,
  key: (id) => `aws kms schedule-key-deletion --key-id ${id} --pending-window-in-days 7`,
  "log group": (name) => `aws logs delete-log-group --log-group-name ${name}`,
  table: (name) => `aws dynamodb delete-table --table-name ${name}`,
  queue: (name) =>
    `aws sqs delete-queue --queue-url "$(aws sqs get-queue-url --queue-name ${name} --query QueueUrl --output text)"`,
};

/** What is left of a fleet, and what to do with it, in the order in which it can be removed. */
export function describeLeftovers(inventory: readonly string[], fleet: string): string {
  const lines = kinds.flatMap((kind) =>
    namesOf(inventory, kind).map((name) => `  ${kind} ${name}\n    ${commands[kind](name)}`),
  );
  return [
    `${inventory.length} things of the fleet ${fleet} are left, by their tags and names, and cost money.`,
    "First run the removal alone again: npm run test:aws -- -t removal. What it does not remove, by hand, in this order:",
    ...lines,
  ].join("\n");
}
