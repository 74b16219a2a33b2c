import Hummingbird
import ProviderAPI
package import ProviderModel
package import PushHTTP
import PushStore
import PushSupport

/// The operations below `/v1/apps/{app}/bridges/{kind}/{bridge}/shadow`, which report how the responses of a bridge in
/// shadow mode differ from those of the server that the bridge is to replace.
struct ShadowController: Controller {
    let store: any AppStore & BridgeStore & ShadowStore

    var operations: [ProviderOperation] {
        let path = "/v1/apps/{app}/bridges/{kind}/{bridge}/shadow"
        let operations: [ProviderOperation] = [
            .init(.get, path, id: "showShadow", self.show)
                .summary("The counts of compared requests, and the newest differences.")
                .responses(.ok(ShadowResponse.schema)),
            .init(.delete, path, .audited, id: "clearShadow", "Begins the comparison anew.", self.clear)
                .responses(.noContent),
        ]
        return operations.map { $0.tag(.bridges).scope(.admin) }
    }

    private func show(_ request: OperationRequest) async throws -> Response {
        let bridge = try await self.bridge(request)
        let report = try await self.store.shadow(bridge.kind, name: bridge.name, app: bridge.app)
        return try .json(ShadowResponse(report: report))
    }

    private func clear(_ request: OperationRequest) async throws -> Response {
        let bridge = try await self.bridge(request)
        try await self.store.clearShadow(bridge.kind, name: bridge.name, app: bridge.app)
        return .noContent
    }

    private func bridge(_ request: OperationRequest) async throws -> BridgeRecord {
        let app = try await request.app(self.store)
        guard let kind = BridgeKind(rawValue: request.path("kind")),
            let bridge = try await self.store.bridge(kind, name: request.path("bridge")), bridge.app == app.id
        else { throw RequestError.noSuch("bridge", by: "kind and name", at: "bridge") }
        return bridge
    }
}

struct ShadowResponse: ResponseObject {
    /// The report, or `nil` before the bridge has received a request.
    let report: ShadowReport?

    static let schemaName: String? = "ShadowReport"
    static let members: [ResponseMember<Self>] = [
        .optional("sinceMs", \.report?.since, "The time of the first request."),
        .required("requests", { $0.report?.requests ?? 0 }),
        .required("agreements", { $0.report?.agreements ?? 0 }, "The requests without any difference."),
        .required("differences", { $0.report?.differences ?? [] }, "The newest differences, the newest first."),
    ]
}

extension ShadowDifference: ResponseObject {
    package static let members: [ResponseMember<Self>] = [
        .required("atMs", \.at),
        .required("subject", \.subject, "The part of the answer that differs."),
        .optional("field", \.field, "The beginning of the token, or the member of the request."),
        .required("ours", \.ours),
        .required("theirs", \.theirs),
    ]
}
