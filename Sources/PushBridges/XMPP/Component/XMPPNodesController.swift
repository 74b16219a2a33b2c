import Crypto
import Foundation
import Hummingbird
import ProviderAPI
import ProviderModel
import PushHTTP
import PushStore
import PushSupport
import PushTypes

/// The operations below `/v1/apps/{app}/xmpp-nodes` and `…/installations/{installation}/xmpp-nodes`, which manage the
/// nodes to which users' servers publish.
///
/// Back ends use the first path for any installation or user. An app uses the second for its own installation.
struct XMPPNodesController: Controller {
    let store: any AppStore & BridgeStore & UserSecretStore & XMPPNodeStore
    let time: any TimeSource

    private static let domain = Member.text("domain", 1...JabberAddress.maximumPart)
        .described("The domain of the chat account, whose server alone may publish.")
    private static let account = Member.text("account", 1...XMPPNodeRecord.maximumAccount)
        .described("The app's name for the chat account, which each push shows.")
    private static let component = Member.text("component", 1...BridgeRecord.maximumName)
        .described("Default: the component within the domain, else the app's first.")
    private static let installation = Member.text("installation", 1...Member.maximumText)
    private static let user = Member.text("user", 1...Member.maximumText)

    private static let addition = RequestObject(required: [Self.domain], optional: [Self.account, Self.component])
    private static let ownedAddition = RequestObject(
        required: [Self.domain],
        optional: [Self.account, Self.component, Self.installation, Self.user]
    ) { $0.requiringOne(of: "installation", "user").described("With an installation or a user, not both.") }

    var operations: [ProviderOperation] {
        let all = "/v1/apps/{app}/xmpp-nodes"
        let own = "/v1/apps/{app}/installations/{installation}/xmpp-nodes"
        let text = Schema.string(length: 1...Member.maximumText)
        let (list, maximum) = (ResponseDescription.ok(.list("nodes", of: XMPPNodeResponse.schema)), 16 * 1024)
        let backEnd: [ProviderOperation] = [
            .init(.post, all, .unaudited, id: "addXMPPNode", self.add)
                .summary("Makes a node for an installation or a user. Its secret is in this response only.")
                .scope(.register).body(Self.ownedAddition.schema, maximum: maximum)
                .responses(.created(XMPPNodeResponse.schema)).errors(.conflict),
            .init(
                .get,
                all,
                id: "listXMPPNodes",
                "The nodes of an installation or a user, without their secrets.",
                self.list
            )
            .scope(.read)
            .parameters(.query("installation", "Of this installation.", text), .query("user", "Of this user.", text))
            .responses(list),
            .init(.delete, "\(all)/{node}", .unaudited, id: "removeXMPPNode", self.remove)
                .summary("Removes a node: the next publish ends the registration at the user's server.")
                .scope(.register).responses(.noContent),
        ]
        let app: [ProviderOperation] = [
            .init(.post, own, .unaudited, id: "addOwnXMPPNode", self.addOwn)
                .summary("Makes a node for the caller's own installation. Its secret is in this response only.")
                .body(Self.addition.schema, maximum: maximum)
                .responses(.created(XMPPNodeResponse.schema)).errors(.conflict),
            .init(.get, own, id: "listOwnXMPPNodes", "The nodes of the caller's own installation.", self.listOwn)
                .responses(list),
            .init(.delete, "\(own)/{node}", .unaudited, id: "removeOwnXMPPNode", self.removeOwn)
                .summary("Removes a node of the caller's own installation.").responses(.noContent),
        ]
        let operations = backEnd + app.map { $0.scope(.registerSelf).parameters(.installationSecret) }
        return operations.map { $0.tag(.bridges) }
    }

    var pathParameters: [String: OpenAPIDocument<APIScope>.PathParameter] {
        ["node": ("The node's name.", .string(length: 1...64))]
    }
    var pathParameterSources: [OpenAPIDocument<APIScope>.Source] {
        [
            ("node", "addXMPPNode", "$response.body#/node"),
            ("node", "addOwnXMPPNode", "$response.body#/node"),
            ("node", "listXMPPNodes", "$response.body#/nodes/0/node"),
        ]
    }

    // MARK: Back ends

    private func add(_ request: OperationRequest) async throws -> Response {
        let app = try await request.app(self.store)
        let fields = try await request.fields(Self.ownedAddition)
        let owner = try Self.owner(try fields.value(Self.installation), try fields.value(Self.user))
        return try await self.add(fields, owner, app)
    }

    private func list(_ request: OperationRequest) async throws -> Response {
        let app = try await request.app(self.store)
        let owner = try Self.owner(request.text("installation"), request.text("user"))
        return try await self.list(owner, app)
    }

    private func remove(_ request: OperationRequest) async throws -> Response {
        try await self.remove(request, of: nil, try await request.app(self.store))
    }

    private static func owner(_ installation: String?, _ user: String?) throws -> XMPPNodeRecord.Owner {
        switch (installation, user) {
        case (let installation?, nil): return .installation(installation)
        case (nil, let user?): return .user(user)
        default: throw RequestError.invalid("installation", "name either an installation or a user")
        }
    }

    // MARK: Apps

    private func addOwn(_ request: OperationRequest) async throws -> Response {
        let app = try await request.app(self.store)
        let installation = try request.ownInstallation(of: app, self.store)
        return try await self.add(try await request.fields(Self.addition), .installation(installation), app)
    }

    private func listOwn(_ request: OperationRequest) async throws -> Response {
        let app = try await request.app(self.store)
        return try await self.list(.installation(try request.ownInstallation(of: app, self.store)), app)
    }

    private func removeOwn(_ request: OperationRequest) async throws -> Response {
        let app = try await request.app(self.store)
        let installation = try request.ownInstallation(of: app, self.store)
        return try await self.remove(request, of: .installation(installation), app)
    }

    // MARK: Both

    private func add(_ fields: JSONFields, _ owner: XMPPNodeRecord.Owner, _ app: AppRecord) async throws -> Response {
        let domain = try fields.required(Self.domain).lowercased()
        guard JabberAddress.isDomain(domain) else {
            throw fields.error("domain", "invalid_value", "use the domain of the chat account, such as example.com")
        }
        let credentials = NodeCredentials()
        let node = XMPPNodeRecord(
            node: credentials.node,
            app: app.id,
            component: try await self.component(try fields.value(Self.component), domain, app),
            secretHash: credentials.secretHash,
            owner: owner,
            domain: domain,
            account: try fields.value(Self.account),
            createdAt: self.time.now
        )
        guard try await self.store.setXMPPNode(node) else {
            throw RequestError.conflict("name_taken", "the node is taken: try again")
        }
        return try .json(XMPPNodeResponse(node: node, secret: credentials.secret), status: .created)
    }

    /// Returns the component for a new node: the requested one, otherwise one below the domain of the user's account,
    /// otherwise the app's first one by name. Throws ``RequestError`` if the app has no such component.
    private func component(_ name: String?, _ domain: String, _ app: AppRecord) async throws -> String {
        let names = try await self.store.bridges(app: app.id).filter { $0.kind == .xmpp }.map(\.name).sorted()
        if let name {
            guard names.contains(name) else { throw RequestError.invalid("component", "the app has no such component") }
            return name
        }
        guard let name = names.first(where: { $0.hasSuffix(".\(domain)") }) ?? names.first else {
            throw RequestError.conflict("no_component", "the app has no bridge of the kind xmpp: set one first")
        }
        return name
    }

    private func list(_ owner: XMPPNodeRecord.Owner, _ app: AppRecord) async throws -> Response {
        let nodes = try await self.store.xmppNodes(app: app.id, owner: owner)
        return try .page("nodes", nodes.map { XMPPNodeResponse(node: $0) })
    }

    private func remove(
        _ request: OperationRequest,
        of owner: XMPPNodeRecord.Owner?,
        _ app: AppRecord
    ) async throws -> Response {
        guard try await self.store.removeXMPPNode(request.path("node"), app: app.id, owner: owner) else {
            throw RequestError.noSuch("node", by: "name", at: "node")
        }
        return .noContent
    }
}

struct XMPPNodeResponse: ResponseObject {
    let node: XMPPNodeRecord
    /// The secret of the node, or `nil` except in the response to its creation.
    var secret: String?

    private var installation: String? {
        if case .installation(let installation) = self.node.owner { installation } else { nil }
    }

    private var user: String? { if case .user(let user) = self.node.owner { user } else { nil } }

    static let schemaName: String? = "XMPPNode"
    static let members: [ResponseMember<Self>] = [
        .required("jid", \.node.component, "The component, to which the user's server publishes."),
        .required("node", \.node.node), .optional("secret", \.secret, "Only in the response to its creation."),
        .required("domain", \.node.domain), .optional("account", \.node.account),
        .optional("installation", \.installation), .optional("user", \.user),
        .required("createdAtMs", \.node.createdAt),
    ]
}

struct NodeCredentials: Hashable, Sendable {
    /// The name of the node: 128 bits in hexadecimal.
    let node: String
    /// The secret: 192 bits in base64url, or an empty string for a node without one.
    let secret: String

    var secretHash: Data { Data(SHA256.hash(data: Data(self.secret.utf8))) }

    init() {
        self.node = Hexadecimal.encode(RandomBytes.make(16))
        self.secret = Base64URL.encode(RandomBytes.make(24))
    }

    /// Derives the credentials of a device that registers itself. The same seed yields the same credentials.
    /// - Parameters:
    ///   - seed: A string for the device that only this provider can derive.
    ///   - hasSecret: Whether the node has a secret. Some clients do not support one.
    init(seed: String, hasSecret: Bool) {
        let digest = Array(SHA512.hash(data: Data(seed.utf8)))
        self.node = Hexadecimal.encode(digest.prefix(16))
        self.secret = hasSecret ? Base64URL.encode(digest.dropFirst(16).prefix(24)) : ""
    }
}
