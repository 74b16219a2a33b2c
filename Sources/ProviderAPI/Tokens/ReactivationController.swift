import Hummingbird
import Logging
import ProviderModel
package import PushHTTP
import PushStore
import PushSupport
import PushTypes

/// The operation `POST /v1/apps/{app}/devices:reactivate`, which undoes deactivations of device tokens.
struct ReactivationController: Controller {
    /// The number of reactivated devices after which a request ends as incomplete, so that the caller repeats it. The
    /// last batch may exceed the number.
    private static let maximumDevices = 100_000

    let store: any AppStore & TokenStateStore
    let time: any TimeSource
    let logger: Logger

    var operations: [ProviderOperation] {
        [
            .init(.post, "/v1/apps/{app}/devices:reactivate", .audited, id: "reactivateDevices", self.reactivate)
                .summary("Makes devices active again that have been inactive since a deactivation of this time.")
                .tag(.tokens).scope(.operate).cost(.query).body(ReactivationRequest.object.schema, maximum: 16 * 1024)
                .responses(.ok(ReactivationResponse.schema))
        ]
    }

    /// Undoes deactivations. A device that has received another token since, or was deactivated again, is not changed.
    private func reactivate(_ request: OperationRequest) async throws -> Response {
        let app = try await request.app(self.store)
        let fields = try await request.fields(ReactivationRequest.object)
        let now = self.time.now
        let filter = try ReactivationRequest.filter(fields, now: now)
        if try fields.value(ReactivationRequest.dryRun) == true {
            let devices = try await self.store.deactivated(filter, app: app.id)
            return try .json(ReactivationResponse(devices: devices, isComplete: true, isDryRun: true))
        }
        let limit = Self.maximumDevices
        let result = try await self.store.reactivate(filter, app: app.id, limit: limit, now: now)
        self.logger.info(
            "deactivations of tokens were undone",
            metadata: ["app": "\(app.bundleID.name)", "devices": "\(result.devices)"]
        )
        return try .json(ReactivationResponse(devices: result.devices, isComplete: result.isComplete, isDryRun: false))
    }
}

/// The response body for a reactivation: the number of devices, and whether further ones remain.
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
