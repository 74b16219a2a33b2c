import Hummingbird
import ProviderModel
package import PushHTTP
package import PushProvider
import PushStore
import PushSupport

/// The operations `:notify` and `:preview` of `/v1/issues/{issue}`, which send and preview an issue's notification.
struct NotifyController: Controller {
    let store: any AppStore & PublishingStore
    let notifier: IssueNotifier
    let downloads: DownloadMonitor
    let waits: HeldWaveRegistry
    let time: any TimeSource

    var operations: [ProviderOperation] {
        let accepted = ResponseDescription(status: 202, "It is accepted.", NotificationResponse.schema)
        return [
            .init(.post, "/v1/issues/{issue}:notify", .audited, id: "notifyIssue", self.notify)
                .summary("Wakes the devices with Newsstand to load an issue; once, however often it is called.")
                .tag(.publishing).scope(.send).body(IssueRequest.notify.schema, isRequired: false)
                .responses(accepted, .ok(NotificationResponse.schema, "It was accepted before.")).errors(.conflict),
            .init(.post, "/v1/issues/{issue}:preview", .readOnly, id: "previewIssue", self.preview)
                .summary("Says what Notify would do now: the devices and the waves, or the reason for a refusal.")
                .tag(.publishing).scope(.read).cost(.query).body(IssueRequest.notifyPreview.schema, isRequired: false)
                .responses(.ok(NotifyPreview.schema)),
            .init(.get, "/v1/apps/{app}/downloads", id: "showDownloads", self.showDownloads)
                .summary("The app's open downloads and their bandwidth, for which waves wait.")
                .tag(.publishing).scope(.read).responses(.ok(OpenDownloadsResponse.schema)),
        ]
    }

    private func preview(_ request: OperationRequest) async throws -> Response {
        let issue = try await request.object("issue") { try await self.store.issue($0) }
        guard let app = try await self.store.app(id: issue.app) else { throw RequestError.noSuch("issue") }
        let counts = try await request.fields(IssueRequest.notifyPreview).value(IssueRequest.counts)
        return try .json(NotifyPreview(plan: try await self.notifier.plan(issue, app: app, counts: counts ?? true)))
    }

    private func showDownloads(_ request: OperationRequest) async throws -> Response {
        let app = try await request.app(self.store)
        return try .json(OpenDownloadsResponse(figures: self.downloads.figures(app: app.id)))
    }

    private func notify(_ request: OperationRequest) async throws -> Response {
        let issue = try await request.object("issue") { try await self.store.issue($0) }
        guard let app = try await self.store.app(id: issue.app) else { throw RequestError.noSuch("issue") }
        let again = try await request.fields(IssueRequest.notify).value(IssueRequest.again)
        let outcome = try await self.notifier.notify(
            issue,
            app: app,
            key: request.caller?.reference,
            again: again ?? false
        )
        switch outcome {
        case .accepted(let notification):
            request.made(notification.id)
            let warnings = ContentWarning.nobodyReached(by: notification)
            return try self.response(notification, app, warnings: warnings, status: .accepted)
        case .repeated(let earlier):
            let warnings = [Self.alreadyNotified(earlier)] + ContentWarning.nobodyReached(by: earlier)
            return try self.response(earlier, app, warnings: warnings, status: .ok)
        }
    }

    /// Returns the warning that nothing was sent because the issue already has the notification `earlier`.
    private static func alreadyNotified(_ earlier: NotificationRecord) -> ContentWarning {
        let hasEnded = [.done, .cancelled].contains(earlier.state)
        let remedy =
            hasEnded ? "with again: true it is notified of once more" : "that notification has not ended yet"
        let message = "already notified at \(earlier.createdAt.rfc3339), and nothing was sent now: \(remedy)"
        return ContentWarning(field: "again", message: message)
    }

    private func response(
        _ notification: NotificationRecord,
        _ app: AppRecord,
        warnings: [ContentWarning],
        status: HTTPResponse.Status
    ) throws -> Response {
        let clocks = self.time.reading
        var response = NotificationResponse(notification: notification, app: app.bundleID, clocks: clocks)
        response.warnings = warnings
        response.steered = self.waits.wait(of: notification.id, now: clocks.steady)
        return try .json(response, status: status)
    }
}

/// The response body for a preview of *Notify* for an issue: the devices, the waves, and the reason for a refusal.
package struct NotifyPreview: ResponseObject {
    package let plan: IssueNotifier.Plan

    /// The reason why *Notify* would be refused, as an error code and a message.
    struct Refusal: ResponseObject {
        let error: RequestError

        static let members: [ResponseMember<Self>] = [
            .required("code", \.error.code), .required("message", \.error.message),
        ]
    }

    private var waves: JSONValue { NotifyWavesSetting.json(self.plan.waves) }
    private var refusal: Refusal? { self.plan.refusal.map(Refusal.init) }

    package static let schemaName: String? = "NotifyPreview"
    package static let members: [ResponseMember<Self>] = [
        .required("environment", \.plan.environment),
        .required("to", \.plan.audience.json, as: AudienceExpression.object.schema),
        .optional("devices", \.plan.devices, "The active devices that would be notified now."),
        .required("waves", \.waves, as: NotifyWavesSetting.member.schema),
        .optional("waveCount", \.plan.waveCount),
        .optional("refusal", \.refusal, "The error of Notify; absent if it would be accepted."),
    ]
}

/// The response body with the number and the rate of an app's open downloads.
package struct OpenDownloadsResponse: ResponseObject {
    /// The number of open downloads and their rate, or `nil` in the first ten seconds after a start.
    package let figures: DownloadFigures?

    package static let schemaName: String? = "Downloads"
    package static let members: [ResponseMember<Self>] = [
        .optional("openDownloads", \.figures?.open, "Absent while they are not known, for ten seconds after a start."),
        .optional("bytesPerSecond", \.figures?.bytesPerSecond, "Over the last ten seconds."),
    ]
}
