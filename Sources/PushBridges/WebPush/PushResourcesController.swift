import Crypto
import Foundation
import Hummingbird
import HummingbirdCore
import ProviderAPI
import ProviderModel
import PushHTTP
import PushStore
import PushSupport
import PushTypes
import PushWire

/// The operations below `/v1/apps/{app}/installations/{installation}/push-resources`, which manage the addresses to
/// which senders of Web Push post messages for an installation.
struct PushResourcesController: Controller {
    let store: any AppStore & PushResourceStore & UserSecretStore
    let origins: PushOrigins
    let time: any TimeSource

    private static let vapidKey = Member.text("vapidKey", maximum: 128, as: .string(length: 86...128))
        .described("The public key of the only sender that it accepts. Default any sender.")
        .parsed("invalid_value", "a public key of P-256: base64url of 65 bytes") { text -> [UInt8]? in
            Base64URL.decode(text).map { Array($0) }.flatMap { WebPushKeys.isPublicKey($0) ? $0 : nil }
        }
    private static let name = Member.text("name", 1...PushResourceRecord.maximumName)
        .described("The app's own name of it, which each push carries as wpid.")
    private static let addition = RequestObject(optional: [Self.vapidKey, Self.name])

    var operations: [ProviderOperation] {
        let all = "/v1/apps/{app}/installations/{installation}/push-resources"
        let operations: [ProviderOperation] = [
            .init(.get, all, id: "listPushResources", "The installation's push resources.", self.list)
                .responses(.ok(.list("pushResources", of: PushResourceResponse.schema))),
            .init(.post, all, .unaudited, id: "addPushResource", self.add)
                .summary("Makes an address at which others reach the installation by Web Push.")
                .body(Self.addition.schema, maximum: 16 * 1024, isRequired: false)
                .responses(.created(PushResourceResponse.schema)).errors(.conflict),
            .init(.delete, "\(all)/{pushResource}", .unaudited, id: "removePushResource", self.remove)
                .summary("Removes an address: posts to it are answered with 404.").responses(.noContent),
        ]
        return operations.map { $0.tag(.devices).scope(.registerSelf).parameters(.installationSecret) }
    }

    var pathParameters: [String: OpenAPIDocument<APIScope>.PathParameter] {
        ["pushResource": ("The push resource's id.", .uuid)]
    }
    var pathParameterSources: [OpenAPIDocument<APIScope>.Source] {
        [
            ("pushResource", "addPushResource", "$response.body#/id"),
            ("pushResource", "listPushResources", "$response.body#/pushResources/0/id"),
        ]
    }

    private func list(_ request: OperationRequest) async throws -> Response {
        let (app, installation) = try await self.owner(request)
        let resources = try await self.store.pushResources(app: app.id, installation: installation)
        return try .page("pushResources", resources.map { PushResourceResponse(resource: $0) })
    }

    private func add(_ request: OperationRequest) async throws -> Response {
        let (app, installation) = try await self.owner(request)
        let fields = try await request.fields(Self.addition)
        let capability = PushCapability()
        let origin = self.origins.own(request.http)?.description
        let resource = PushResourceRecord(
            hash: capability.hash,
            app: app.id,
            installation: installation,
            name: try fields.value(Self.name) ?? "",
            vapidKey: try fields.value(Self.vapidKey),
            origin: origin,
            createdAt: self.time.now
        )
        switch try await self.store.addPushResource(resource) {
        case .added: break
        case .noDevice: throw RequestError.conflict("no_device", "register the installation's token for alerts first")
        case .tooMany:
            let message = "an installation has \(PushResourceRecord.maximumCount) push resources at most: remove some"
            throw RequestError.conflict("too_many_push_resources", message)
        }
        let endpoint = "\(origin ?? "")/push/\(capability.text)"
        return try .json(PushResourceResponse(resource: resource, endpoint: endpoint), status: .created)
    }

    private func remove(_ request: OperationRequest) async throws -> Response {
        let (app, installation) = try await self.owner(request)
        guard let id = request.uuid("pushResource"),
            try await self.store.removePushResource(id, app: app.id, installation: installation)
        else {
            let message = "the installation has no push resource with this id"
            throw RequestError(.notFound, code: "no_such_push_resource", message: message, path: "pushResource")
        }
        return .noContent
    }

    /// Returns the app and the installation of a request, after checking that the caller may manage the installation's
    /// push resources.
    private func owner(_ request: OperationRequest) async throws -> (AppRecord, String) {
        let app = try await request.app(self.store)
        return (app, try request.ownInstallation(of: app, self.store))
    }
}

struct PushResourceResponse: ResponseObject {
    let resource: PushResourceRecord
    /// The address, which is a secret. It is `nil` except in the response that creates the push resource.
    var endpoint: String?

    private var name: String? { self.resource.name.isEmpty ? nil : self.resource.name }
    private var vapidKey: String? { self.resource.vapidKey.map { Base64URL.encode($0) } }

    static let schemaName: String? = "PushResource"
    static let members: [ResponseMember<Self>] = [
        .required("id", \.resource.id),
        .optional("endpoint", \.endpoint, "The address, only in the response to its creation. It is a secret."),
        .optional("name", \.name),
        .optional("vapidKey", \.vapidKey, "The public key of the only sender that it accepts."),
        .required("createdAtMs", \.resource.createdAt),
    ]
}

/// A random string that grants access to everyone who knows it: the last path component of a push resource's address,
/// or the token of a message. The store contains only its hash.
struct PushCapability: Hashable, Sendable {
    /// The number of random bytes, which amount to 160 bits.
    private static let length = 20

    let text: String

    init() { self.text = Base64URL.encode(RandomBytes.make(Self.length)) }

    /// Parses a capability. Returns `nil` if the string is not base64url of the right length.
    init?(_ text: String) {
        guard text.utf8.count == 27, Base64URL.decode(text)?.count == Self.length else { return nil }
        self.text = text
    }

    var hash: [UInt8] { Array(SHA256.hash(data: Data(self.text.utf8))) }
}
