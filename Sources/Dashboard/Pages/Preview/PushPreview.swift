import ProviderAPI
import ProviderModel
import PushSupport
import PushTypes
import WebPages

/// The variables of the template `push-preview`: the lock screen of a device with the notification, the payload size,
/// and the warnings.
struct PushPreview {
    private var model: PageModel

    /// Creates the preview from a response of the API.
    /// - Parameters:
    ///   - hasAudience: Pass `true` if the form already names an audience. Otherwise, the recipients are omitted.
    ///   - countsRecipients: Pass `true` to show the number of recipients, which the preview of a template lacks.
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

    init(_ error: RequestError) {
        self.model = ["error": ["message": error.message, "field": error.path ?? ""] as PageModel]
    }

    /// Returns the template variables. `runs` are the times of a schedule's next runs, which are empty for a
    /// notification that is sent once.
    func values(runs: [String] = []) -> PageModel {
        var model = self.model
        model["runs"] = runs.map { PageText($0) }
        model["hasRuns"] = !runs.isEmpty
        return model
    }
}
