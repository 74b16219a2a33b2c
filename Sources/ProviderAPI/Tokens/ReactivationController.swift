import Foundation
import Hummingbird
import Logging
import ProviderModel
package import PushHTTP
import PushProvider
import PushStore
import PushSupport
import PushTypes

/// `POST /v1/apps/{app}/devices:reactivate`: undoes deactivations of tokens.
struct ReactivationController: Controller {
    /// The number of devices after which a request ends. Its last page may exceed it.
    private static let maximumDevices = 100_000

    let store: any AppStore & TokenStateStore
    let time: any TimeSource
    let logger: Logger

    private static let (from, to) = (Member.time("from"), Member.time("to"))
    private static let reason = Member.text("reason", 1...DeviceRequest.maximumText)
        .described("That the push service gave, such as DeviceTokenNotForTopic.")
    private static let notification = Member.id("notification", "use a notification's id")
        .described("Whose pushes led to them.")
    private static let dryRun = Member.bool("dryRun").described("true counts and changes nothing.")

    static let request = RequestObject(
        required: [Self.from],
        optional: [Self.to, Self.reason, Member.environment, Self.notification, Self.dryRun]
    ) {
        $0.described("The deactivations to undo. Without to, until now.")
            .example(.texts(["from": "2026-11-22T10:00:00Z", "reason": "DeviceTokenNotForTopic"]))
    }

    var operations: [ProviderOperation] {
        [
            .init(.post, "/v1/apps/{app}/devices:reactivate", .audited, id: "reactivateDevices", self.reactivate)
                .summary("Makes devices active again that have been inactive since a deactivation of this time.")
                .tag(.tokens).scope(.operate).cost(.query).body(Self.request.schema, maximum: 16 * 1024)
                .responses(.ok(ReactivationResponse.schema))
        ]
    }

    /// Undoes deactivations. A device that has got another token since, or was deactivated again later, stays as it is.
    private func reactivate(_ request: OperationRequest) async throws -> Response {
        let app = try await request.app(self.store)
        let fields = try await request.fields(Self.request)
        let now = self.time.now
        guard let from = try fields.value(Self.from)
        else { throw fields.error("from", "missing_field", "name the time of the first deactivation to undo") }
        // The end is exclusive, and a deactivation of this millisecond counts.
        let to = try fields.value(Self.to) ?? now.advanced(by: .milliseconds(1))
        guard from < to else { throw fields.error("to", "invalid_value", "to is later than from") }
        let filter = DeactivationFilter(
            from: from,
            to: to,
            reason: try fields.value(Self.reason),
            environment: try fields.value(Member.environment),
            notification: try fields.value(Self.notification)
        )
        if try fields.value(Self.dryRun) == true {
            let devices = try await self.store.deactivated(filter, app: app.id)
            return try .json(ReactivationResponse(devices: devices, isComplete: true, isDryRun: true))
        }
        let limit = Self.maximumDevices
        let result = try await self.store.reactivate(filter, app: app.id, limit: limit, now: now)
        self.logger.info(
            "deactivations of tokens were undone",
            metadata: ["app": "\(app.bundleID.name)", "devices": "\(result.devices)"]
        )
        return try .json(
            ReactivationResponse(devices: result.devices, isComplete: result.isComplete, isDryRun: false)
        )
    }
}

/// The result of undoing deactivations in a response.
package struct ReactivationResponse: ResponseObject {
    package let devices: Int
    package let isComplete: Bool
    let isDryRun: Bool

    package static let schemaName: String? = "Reactivation"
    package static let members: [ResponseMember<Self>] = [
        .required("devices", \.devices, "The devices that are active again, or would be."),
        .required("complete", \.isComplete, "false: there are more, and the same request continues."),
        .required("dryRun", \.isDryRun),
    ]
}
