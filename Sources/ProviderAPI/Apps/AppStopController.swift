import Hummingbird
import ProviderModel
package import PushHTTP
import PushProvider
import PushStore
import PushSupport
import PushTypes

/// The operations `POST /v1/apps/{app}:pause` and `:resume`, which stop all pushes of an app and resume them.
struct AppStopController: Controller {
    let store: any AppStore
    let wakes: LaneWakeSignals
    /// The queue of pushes in memory. A stop removes the app's pushes from it.
    let direct: DirectDispatch
    let time: any TimeSource

    var operations: [ProviderOperation] {
        [
            .init(.post, "/v1/apps/{app}:pause", .audited, id: "pauseApp", self.pause)
                .summary("Stops everything of an app, urgent notifications too, until it is resumed.")
                .tag(.apps).scope(.operate).body(AppRequest.stop.schema, maximum: 16 * 1024, isRequired: false)
                .responses(.ok(AppStopResponse.schema)),
            .init(.post, "/v1/apps/{app}:resume", .audited, id: "resumeApp", self.resume)
                .summary("Sends what waits, and everything from now on.")
                .tag(.apps).scope(.operate).responses(.ok(AppStopResponse.schema)),
        ]
    }

    private func pause(_ request: OperationRequest) async throws -> Response {
        let app = try await request.app(self.store)
        let fields = try await request.fields(AppRequest.stop)
        let wanted = AppStop(
            app: app.id,
            since: self.time.recorded,
            reason: try fields.value(AppRequest.reason),
            by: request.caller?.reference
        )
        let stop = try await self.store.stop(wanted)
        let underWay = self.direct.apply(.app(app.id)).count + self.direct.forwards.count(of: app.id)
        return try .json(AppStopResponse(stop: stop, underWay: underWay))
    }

    private func resume(_ request: OperationRequest) async throws -> Response {
        let app = try await request.app(self.store)
        if try await self.store.resumeApp(app.id) {
            for lane in NotificationRecord.Lane.allCases { self.wakes[lane].signal() }
        }
        return try .json(AppStopResponse(stop: nil))
    }
}

/// The response object for the state of an app. It states whether the app is stopped, since when, why and by whom.
package struct AppStopResponse: ResponseObject {
    /// The record of the stop, or `nil` for an app that is not stopped.
    let stop: AppStop?
    /// The number of pushes that were already in flight when the app was stopped, and may still reach devices. It is
    /// `nil` except in the response to the stop.
    var underWay: Int?

    package var isStopped: Bool { self.stop != nil }

    package static let schemaName: String? = "AppStop"
    package static let members: [ResponseMember<Self>] = [
        .required("stopped", \.isStopped),
        .optional("sinceMs", \.stop?.since),
        .optional("reason", \.stop?.reason),
        .optional("by", \.stop?.by, "The API key or the person that stopped it."),
        .optional("underWay", \.underWay, "The pushes that the stop could not take back: the last ones."),
    ]

    /// Returns the warning for the response to a request that sends to a stopped app. It contains the time and the
    /// reason of the stop.
    static func warning(_ stop: AppStop, app: Topic) -> ContentWarning {
        let reason = stop.reason.map { ": \($0)" } ?? ""
        let message =
            "\(app.name) is stopped since \(stop.since.rfc3339)\(reason). This waits until POST /v1/apps/…:resume"
        return ContentWarning(field: "app", message: message)
    }
}
