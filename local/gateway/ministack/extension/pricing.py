"""The AWS Price List: what instances cost on demand."""

import json

from .added_services import add_service, answered, refuse
from .instance_types import METAL, TYPES

_TARGET = "AWSPriceListService"
# The products that are told, by their family; of other filters every product here has the value that is asked for.
_FAMILIES = {
    "Compute Instance": {name: type_["price"] for name, type_ in TYPES.items()},
    "Compute Instance (bare metal)": METAL,
}


def extend(app, _secret):
    """Serves GetProducts of AmazonEC2, in the form of AWS Price List API Reference, GetProducts: each product is JSON in a string."""

    async def serve(_method, _path, headers, body, _query_params):
        operation, request = headers.get("x-amz-target", "").partition(".")[2], json.loads(body or b"{}")
        if operation != "GetProducts":
            return refuse("UnknownOperationException", f"the embedded cloud does not serve {operation} of the price list")
        if request.get("ServiceCode") != "AmazonEC2":
            return refuse("NotFoundException", f"the embedded cloud has no prices of {request.get('ServiceCode')}")
        asked = {each.get("Field"): each.get("Value") for each in request.get("Filters", [])}
        family, type_ = asked.get("productFamily"), asked.get("instanceType")
        products = [
            product(name, price)
            for of, prices in _FAMILIES.items() if family in (None, of)
            for name, price in prices.items() if type_ in (None, name)
        ]
        return answered({"FormatVersion": "aws_v1", "PriceList": products})

    def named(call):
        # Service Authorization Reference, "AWS Price List": no resource types.
        call.resources = ["*"]

    add_service(app, "pricing", serve, named, _TARGET, r"^api\.pricing\.")


def product(name, price):
    rate = {"unit": "Hrs", "pricePerUnit": {"USD": f"{price:.10f}"}}
    return json.dumps({
        "product": {"attributes": {"instanceType": name}}, "serviceCode": "AmazonEC2",
        "terms": {"OnDemand": {name: {"priceDimensions": {name: rate}}}},
    })
