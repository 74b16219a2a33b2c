import Foundation
import Hummingbird
import PushHTTP
import PushProvider
import PushStore
import PushSupport

/// `/v1/issues/{issue}:notify`: the notification of a published issue.
struct NotifyController: Controller {
    let store: any ProviderStore
    let notifier: IssueNotifier
    let waits: WaveWaits
    let time: any TimeSource

    var operations: [ProviderOperation] {
        let again = Schema.bool.described("Notifies once more where the earlier notification has ended.")
        let accepted = ResponseDescription(status: 202, "It is accepted.", NotificationResponse.schema)
        return [
            .init(.post, "/v1/issues/{issue}:notify", .audited, id: "notifyIssue", self.notify)
                .summary("Wakes the devices with Newsstand to load an issue; once, however often it is called.")
                .tag(.publishing).scope(.send).body(.object(optional: ["again": again]))
                .responses(accepted, .ok(NotificationResponse.schema, "It was accepted before.")).errors(.conflict)
        ]
    }

    private func notify(_ request: OperationRequest) async throws -> Response {
        let issue = try await request.object("issue") { try await self.store.issue($0) }
        guard let app = try await self.store.app(id: issue.app) else { throw RequestError.noSuch("issue") }
        let body = try await request.body()
        let again = try body.isEmpty ? nil : JSONFields(parsing: body, known: ["again"]).bool("again")
        let outcome = try await self.notifier.notify(
            issue,
            app: app,
            key: request.caller?.reference,
            again: again ?? false
        )
        switch outcome {
        case .accepted(let notification):
            request.made(notification.id)
            return try self.response(notification, app, status: .accepted)
        case .repeated(let earlier): return try self.response(earlier, app, status: .ok)
        }
    }

    private func response(
        _ notification: NotificationRecord,
        _ app: AppRecord,
        status: HTTPResponse.Status
    ) throws -> Response {
        let clocks = self.time.reading
        var response = NotificationResponse(notification: notification, app: app.bundleID, clocks: clocks)
        response.steered = self.waits.wait(of: notification.id, now: clocks.steady)
        return try .json(response, status: status)
    }
}
