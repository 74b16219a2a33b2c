import PushSupport
import PushTypes
import WebPages

/// The values of the template `push-preview`: what a device would show of a notification, and what is to be said about it.
struct PushPreview {
    private var model: PageModel

    /// - Parameters:
    ///   - response: The response of a preview of the API.
    ///   - hasAudience: Whether the audience is named already. Without one nothing is said about recipients.
    ///   - countsRecipients: Whether it is of a notification, and not of a template.
    init(_ response: JSONValue, texts: PageTexts, hasAudience: Bool = true, countsRecipients: Bool = true) {
        var model: PageModel = [:]
        let topic = response["topic"].stringValue ?? ""
        if response["payload"] != .null {
            let type = response["pushType"].stringValue.flatMap(PushType.init(rawValue:)) ?? .alert
            model["lock"] = LockScreen(payload: response["payload"], type: type).model(topic: topic, texts: texts)
            model["json"] = response["payload"].indented
        }
        for name in ["size", "limit", "locale", "problem", "encryptedPayload"] {
            model[name] = PageValue.of(response[name])
        }
        model["isEncrypted"] = response["encryptedPayload"] != .null
        let size = response["size"].integerValue ?? 0
        model["plainSize"] = "\(size)"
        model["plainLimit"] = "\(response["limit"].integerValue ?? 4096)"
        var warnings = response["warnings"].elements
        if !hasAudience || !countsRecipients {
            warnings = warnings.filter { !["to", "recipients", "skipped"].contains($0["field"].stringValue ?? "") }
            model["noAudience"] = countsRecipients
        } else {
            model["recipients"] = ["count": PageValue.of(response["recipients"]) ?? texts["push.unknown"]]
            model["skipped"] = PageValue.of(response["skipped"])
        }
        model["warnings"] = warnings.compactMap { PageValue.of($0) }
        self.model = model
    }

    /// The preview of what the API refuses.
    init(_ error: RequestError) {
        self.model = ["error": ["message": error.message, "field": error.path ?? ""] as PageModel]
    }

    /// The values, with the times at which a schedule would run.
    func values(runs: [JSONValue] = []) -> PageModel {
        var model = self.model
        model["runs"] = runs.compactMap { PageValue.of($0) }
        model["hasRuns"] = !runs.isEmpty
        return model
    }
}
