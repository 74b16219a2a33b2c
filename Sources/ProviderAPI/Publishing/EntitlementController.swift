import Hummingbird
package import ProviderModel
package import PushHTTP
package import PushProvider
import PushStore
import PushSupport

/// The operations at `/v1/apps/{app}/entitlement`, which configure the publisher's server that decides who is entitled
/// to an app's issues.
struct EntitlementController: Controller {
    let store: any AppStore & EntitlementServerStore
    let addresses: AddressPolicy
    let checker: EntitlementChecker
    let time: any TimeSource

    var operations: [ProviderOperation] {
        let path = "/v1/apps/{app}/entitlement"
        let shown = ResponseDescription.ok(EntitlementServerResponse.schema)
        let operations: [ProviderOperation] = [
            .init(.get, path, id: "showEntitlementServer", "The publisher's server of the app.", self.show)
                .responses(shown),
            .init(.put, path, .audited, id: "setEntitlementServer", self.set)
                .summary("Sets the publisher's server; a secret that is made is in this response only.")
                .body(EntitlementServerRequest.object.schema, maximum: 16 * 1024).responses(shown),
            .init(.delete, path, .audited, id: "removeEntitlementServer", self.remove)
                .summary("Removes the publisher's server: transactions alone decide then.").responses(.noContent),
            .init(.post, "\(path):test", .audited, id: "testEntitlementServer", self.test)
                .summary("Asks the publisher's server about an account, and returns the exchange without secrets.")
                .body(EntitlementTestRequest.object.schema, maximum: 64 * 1024)
                .responses(.ok(PublisherExchange.schema)),
            .init(.get, "\(path):grounds", id: "showEntitlementGrounds", self.showGrounds)
                .summary("The ways in which somebody can be entitled to retail issues of the app.")
                .responses(.ok(EntitlementChecker.Grounds.schema)),
        ]
        return operations.map { $0.tag(.publishing).scope(.operate) }
    }

    private func show(_ request: OperationRequest) async throws -> Response {
        try .json(EntitlementServerResponse(server: try await self.server(of: try await request.app(self.store))))
    }

    private func showGrounds(_ request: OperationRequest) async throws -> Response {
        try .json(try await self.checker.grounds(app: try await request.app(self.store).id))
    }

    private func set(_ request: OperationRequest) async throws -> Response {
        let app = try await request.app(self.store)
        let fields = try await request.fields(EntitlementServerRequest.object)
        let url = try fields.required(Member.url)
        let given = try fields.value(EntitlementServerRequest.secret)
        let server = EntitlementServerRecord(
            app: app.id,
            url: try WebhookAddress(url, policy: self.addresses).url,
            form: try fields.value(EntitlementServerRequest.form) ?? .json,
            whenDown: try fields.value(EntitlementServerRequest.whenDown) ?? .allowKnown,
            secret: given ?? WebhookSecret.make(),
            changedAt: self.time.now
        )
        let stored = try await self.store.setEntitlementServer(server, keepsSecret: given == nil)
        let isNew = given == nil && stored.secret == server.secret
        return try .json(EntitlementServerResponse(server: stored, secret: isNew ? stored.secret : nil))
    }

    private func remove(_ request: OperationRequest) async throws -> Response {
        let app = try await request.app(self.store)
        guard try await self.store.removeEntitlementServer(app: app.id) else { throw Self.noServer }
        return .noContent
    }

    /// Sends a test query to the publisher's server. Responds with 200 and the result, whatever the server responds.
    private func test(_ request: OperationRequest) async throws -> Response {
        let app = try await request.app(self.store)
        let fields = try await request.fields(EntitlementTestRequest.object)
        guard let products = try fields.value(EntitlementTestRequest.products), !products.isEmpty else {
            throw fields.error("productIds", "missing_field", "name one product or more")
        }
        let account = try fields.value(EntitlementProof.accountMember)
        let token = try fields.value(EntitlementProof.tokenMember)
        guard account != nil || token != nil else {
            throw fields.error("account", "missing_field", "name an account, or give its authToken")
        }
        let server = try await self.server(of: app)
        let exchange = await self.checker.test(
            server,
            app: app.bundleID,
            account: account,
            token: token,
            products: products
        )
        return try .json(exchange)
    }

    private func server(of app: AppRecord) async throws -> EntitlementServerRecord {
        guard let server = try await self.store.entitlementServer(app: app.id) else { throw Self.noServer }
        return server
    }

    private static var noServer: RequestError {
        RequestError(
            .notFound,
            code: "no_entitlement_server",
            message: "the app has no publisher's server: set one with PUT",
            path: "app"
        )
    }
}

extension EntitlementChecker.Grounds: ResponseObject {
    package static let schemaName: String? = "EntitlementGrounds"
    package static let members: [ResponseMember<Self>] = [
        .required("appStoreRoot", \.hasAppStoreRoot, "Whether transactions of the App Store can be checked."),
        .required("sandboxPurchases", \.allowsSandboxPurchases, "Whether those of the sandbox count in production."),
        .required("server", \.hasServer, "Whether a publisher's server is asked."),
    ]
}

/// The response object for the publisher's server that decides who is entitled.
package struct EntitlementServerResponse: ResponseObject {
    let server: EntitlementServerRecord
    /// The secret that signs the queries to the server. It is `nil` except in the response to its creation.
    package var secret: String?

    package var url: String { self.server.url }
    package var form: EntitlementServerRecord.Form { self.server.form }
    package var whenDown: EntitlementServerRecord.WhenDown { self.server.whenDown }

    package static let schemaName: String? = "EntitlementServer"
    package static let members: [ResponseMember<Self>] = [
        .required("url", \.url),
        .required("form", \.form),
        .required("whenDown", \.whenDown, "The decision while the server does not answer."),
        .optional("secret", \.secret, "Only in the response to the request that made it."),
        .required("changedAtMs", \.server.changedAt),
    ]
}

extension EntitlementServerRecord.Form: JSONRepresentable {}
extension EntitlementServerRecord.WhenDown: JSONRepresentable {}

extension PublisherExchange: ResponseObject {
    package var isAnswered: Bool { self.products != nil }
    private var milliseconds: Int { Int(clamping: Int64((self.duration / .milliseconds(1)).rounded())) }

    package static let schemaName: String? = "EntitlementTest"
    package static let members: [ResponseMember<Self>] = [
        .required("answered", \.isAnswered, "Whether the server gave an answer that can be used."),
        .optional("entitled", \.products, "The product ids that the answer names."),
        .optional("error", \.error),
        .required("method", \.method),
        .required("url", \.url, "With *** in place of the token."),
        .optional("request", \.request, "The body of the request, with *** in place of the token."),
        .optional("status", \.status, "The server's HTTP status; absent without a response."),
        .optional("response", \.response, "The beginning of the response's body."),
        .required("milliseconds", \.milliseconds, "The time until the end of the response."),
    ]
}
