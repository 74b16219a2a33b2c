import Hummingbird
import Logging
import ProviderAPI
import ProviderModel
import PushHTTP
import PushProvider
import PushStore
import PushSupport

/// The operations below `/v1/apps/{app}/bridges`, which manage the bridges of an app.
struct BridgesController: Controller {
    let store: any AppStore & BridgeStore
    /// The rules for the addresses that settings may contain if the caller's API key is restricted to single apps.
    var addresses = AddressPolicy()
    let time: any TimeSource
    let logger: Logger

    private static let settings = Member.openObject("settings", as: .any(of: Self.settingsOfKinds))
        .described("The settings of the kind.")
    private static let secret = Member.text("secret", 1...256)
        .described(
            """
            The secret shared with the other system, for \(Self.kindsInURLs) of at least \
            \(BridgeAuthenticator.goodSecret) bytes. Default: the present one.
            """
        )
    private static let generateSecret = Member.bool("generateSecret")
        .described("`true` makes a secret, which this response has once.")
    private static let request = RequestObject(
        optional: [Member.environment, Self.settings, Self.secret, Self.generateSecret]
    )

    private static var settingsOfKinds: [Schema] {
        Bridges.all.compactMap { feature in
            feature.settings?.object.schema.described("Of a bridge of the kind \(feature.kind.rawValue).")
        }
    }

    /// The names of the kinds of bridges whose clients have the secret in their URLs, as Markdown.
    private static var kindsInURLs: String {
        Bridges.all.filter { $0.hasSecretInURL }.map { "`\($0.kind.rawValue)`" }.joined(separator: " and ")
    }

    var operations: [ProviderOperation] {
        let all = "/v1/apps/{app}/bridges"
        let one = "\(all)/{kind}/{bridge}"
        let operations: [ProviderOperation] = [
            .init(.get, all, id: "listBridges", "The app's bridges, without their secrets.", self.list)
                .responses(.ok(.list("bridges", of: BridgeResponse.schema))),
            .init(.get, one, id: "showBridge", "One bridge, without its secret.", self.show)
                .responses(.ok(BridgeResponse.schema)),
            .init(.put, one, .audited, id: "setBridge", "Adds a bridge, or replaces its settings.", self.set)
                .body(Self.request.schema, maximum: 64 * 1024).responses(.ok(BridgeResponse.schema)).errors(.conflict),
            .init(.delete, one, .audited, id: "removeBridge", self.remove)
                .summary("Removes a bridge: requests to it are answered as to one that never was.")
                .responses(.noContent),
        ]
        return operations.map { $0.tag(.bridges).scope(.admin) }
    }

    var pathParameters: [String: OpenAPIDocument<APIScope>.PathParameter] {
        [
            "kind": ("The protocol of the bridge.", BridgeKind.schema),
            "bridge": ("The bridge's name.", .string(length: 1...BridgeRecord.maximumName)),
        ]
    }
    var pathParameterSources: [OpenAPIDocument<APIScope>.Source] {
        [
            ("bridge", "setBridge", "$request.path.bridge"),
            ("bridge", "listBridges", "$response.body#/bridges/0/name"),
            ("kind", "listBridges", "$response.body#/bridges/0/kind"),
        ]
    }

    private func list(_ request: OperationRequest) async throws -> Response {
        let app = try await request.app(self.store)
        return try .page("bridges", try await self.store.bridges(app: app.id).map { BridgeResponse(bridge: $0) })
    }

    private func show(_ request: OperationRequest) async throws -> Response {
        let app = try await request.app(self.store)
        let (feature, name) = try self.address(request)
        guard let bridge = try await self.bridge(feature.kind, name, of: app) else { throw Self.noBridge }
        return try .json(BridgeResponse(bridge: bridge))
    }

    private func set(_ request: OperationRequest) async throws -> Response {
        let app = try await request.app(self.store)
        let (feature, name) = try self.address(request)
        guard let type = feature.settings else {
            throw RequestError.invalid("kind", "bridges of this kind are not configured here")
        }
        try type.check(name: name)
        let fields = try await request.fields(Self.request)
        var kept = try fields.value(Self.settings) ?? [:]
        let settings = try type.read(kept, at: "settings")
        if request.caller?.apps != nil, !type.hidden.isEmpty {
            let present = try await self.bridge(feature.kind, name, of: app)
            kept.merge(try settings.hiddenMembers(replacing: present, self.addresses)) { $1 }
        }
        let made = try fields.value(Self.generateSecret) == true ? BridgeAuthenticator.makeSecret() : nil
        let chosen = try fields.value(Self.secret)
        guard made == nil || chosen == nil else {
            throw RequestError.invalid("secret", "a secret is either given or made")
        }
        if let chosen, feature.hasSecretInURL, chosen.utf8.count < BridgeAuthenticator.goodSecret {
            let message = """
                the URL of the client has it, so it needs at least \(BridgeAuthenticator.goodSecret) bytes: "generateSecret": true makes one
                """
            throw RequestError(.invalid, code: "too_short", message: message, path: "secret")
        }
        let secret = made ?? chosen
        let bridge = BridgeRecord(
            kind: feature.kind,
            name: name,
            app: app.id,
            environment: try fields.value(Member.environment),
            settings: .object(kept),
            secret: secret ?? "",
            changedAt: self.time.now
        )
        let stored = try await self.stored(bridge, keepsSecret: secret == nil)
        return try .json(BridgeResponse(bridge: stored, secret: made))
    }

    /// Stores a bridge, and returns the stored record. Throws ``RequestError`` for a conflict if the name is taken or
    /// there are too many bridges.
    /// - Parameter keepsSecret: Whether an existing bridge of this name keeps its secret instead of that of `bridge`.
    private func stored(_ bridge: BridgeRecord, keepsSecret: Bool) async throws -> BridgeRecord {
        switch try await self.store.setBridge(bridge, keepsSecret: keepsSecret) {
        case .done(let stored, let displaced):
            if let displaced { self.logger.warnOfReplacement(by: stored, of: displaced) }
            return stored
        case .nameTaken:
            let message = "a bridge of another app has this name: choose another"
            throw RequestError.conflict("name_taken", message, at: "bridge")
        case .nameOverlaps:
            let message = """
                some of these app ids are another app's, by its bundle id or a bridge: choose a name or a pattern that begins with the \
                bundle id
                """
            throw RequestError.conflict("name_overlaps", message, at: "bridge")
        case .topicTaken:
            let message = "this topic belongs to another app, with whose bundle id it begins: set the bridge there"
            throw RequestError.conflict("name_taken", message, at: "bridge")
        case .tooMany:
            let message = "an app has at most \(BridgeRecord.maximumOfApp) bridges: remove some first"
            throw RequestError.conflict("too_many_bridges", message)
        }
    }

    private func remove(_ request: OperationRequest) async throws -> Response {
        let app = try await request.app(self.store)
        let (feature, name) = try self.address(request)
        guard try await self.store.removeBridge(feature.kind, name: name, app: app.id) else { throw Self.noBridge }
        return .noContent
    }

    private func bridge(_ kind: BridgeKind, _ name: String, of app: AppRecord) async throws -> BridgeRecord? {
        guard let bridge = try await self.store.bridge(kind, name: name), bridge.app == app.id else { return nil }
        return bridge
    }

    /// Returns the kind and name of a bridge in a request's path. Throws ``RequestError`` for an unknown kind or an
    /// invalid name.
    private func address(_ request: OperationRequest) throws -> (any BridgeFeature.Type, String) {
        guard let feature = Bridges.feature(BridgeKind(request.path("kind"))) else {
            let kinds = Bridges.all.map { $0.kind.rawValue }.joined(separator: ", ")
            throw RequestError(.notFound, code: "no_such_kind", message: "use one of \(kinds)", path: "kind")
        }
        let name = request.path("bridge")
        guard (1...BridgeRecord.maximumName).contains(name.utf8.count), !name.contains(where: \.isWhitespace) else {
            let message = "a name has 1 to \(BridgeRecord.maximumName) bytes and no spaces"
            throw RequestError.invalid("bridge", message)
        }
        return (feature, name)
    }

    private static var noBridge: RequestError { .noSuch("bridge", by: "kind and name", at: "bridge") }
}

struct BridgeResponse: ResponseObject {
    let bridge: BridgeRecord
    /// The secret that was generated for the bridge, or `nil` if none was generated by this request.
    var secret: String?

    /// The settings without the hidden members that the provider has added.
    private var settings: JSONValue {
        guard let hidden = Bridges.feature(self.bridge.kind)?.settings?.hidden, !hidden.isEmpty,
            case .object(let members) = self.bridge.settings
        else { return self.bridge.settings }
        return .object(members.filter { member in !hidden.contains { $0.name == member.key } })
    }

    static let schemaName: String? = "Bridge"
    static let members: [ResponseMember<Self>] = [
        .required("kind", \.bridge.kind),
        .required("name", \.bridge.name, "The name by which the other system addresses it."),
        .optional("environment", \.bridge.environment, "Absent: the environment of each device."),
        .required("settings", \.settings),
        .required("hasSecret", { !$0.bridge.secret.isEmpty }),
        .optional("secret", \.secret, "Only in the response to `generateSecret`."),
        .required("changedAtMs", \.bridge.changedAt),
    ]
}
