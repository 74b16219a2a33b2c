#!/usr/bin/env python3
"""Sends through Google's own client of FCM's HTTP v1 API, unchanged but for its endpoint, which is an option of it:
fcm-client.py PORT KEY MESSAGE, where MESSAGE is JSON. Prints the name of the message, or status and error code."""

import json
import sys

from google.oauth2.credentials import Credentials
from googleapiclient.discovery import build
from googleapiclient.errors import HttpError

port, key, message = sys.argv[1:]
service = build(
    "fcm",
    "v1",
    credentials=Credentials(token=key),
    client_options={"api_endpoint": f"http://127.0.0.1:{port}"},
    static_discovery=True,
    cache_discovery=False,
)
try:
    answer = service.projects().messages().send(parent="projects/shop", body={"message": json.loads(message)}).execute()
    print(answer["name"])
except HttpError as error:
    details = error.error_details if isinstance(error.error_details, list) else []
    codes = [detail.get("errorCode") for detail in details if "errorCode" in detail]
    print(error.status_code, *codes)
