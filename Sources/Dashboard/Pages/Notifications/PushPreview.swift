import ProviderAPI
import PushProvider
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
    init(_ response: PreviewResponse, texts: LocalizedTexts, hasAudience: Bool = true, countsRecipients: Bool = true) {
        let members = PageValue.members(response)
        var model = members.filter { ["size", "limit", "locale", "problem", "encryptedPayload"].contains($0.key) }
        if let payload = response.payload {
            let screen = LockScreen(payload: payload, type: response.pushType)
            model["lock"] = screen.model(topic: response.topic.name, texts: texts)
            model["json"] = payload.indented
        }
        model["isEncrypted"] = response.encryptedPayload != nil
        model["plainSize"] = "\(response.size ?? 0)"
        model["plainLimit"] = "\(response.limit)"
        var warnings = response.warnings
        if !hasAudience || !countsRecipients {
            warnings = warnings.filter { !["to", "recipients", "skipped"].contains($0.field) }
            model["noAudience"] = countsRecipients
        } else {
            model["recipients"] = ["count": members["recipients"] ?? texts["push.unknown"]] as PageModel
            model["skipped"] = members["skipped"]
        }
        model["warnings"] = warnings.map { PageValue.members($0) }
        self.model = model
    }

    /// The preview of what the API refuses.
    init(_ error: RequestError) {
        self.model = ["error": ["message": error.message, "field": error.path ?? ""] as PageModel]
    }

    /// The values, with the times at which a schedule would run.
    func values(runs: [String] = []) -> PageModel {
        var model = self.model
        model["runs"] = runs.map { PageText($0) }
        model["hasRuns"] = !runs.isEmpty
        return model
    }
}
