import Foundation
import Hummingbird
import Logging
import ProviderAPI
import ProviderModel
import PushHTTP
import PushProvider
import PushStore
import PushSupport
import PushTypes

/// The operations below `/v1/apps/{app}/bridges`, which manage the bridges of an app.
struct BridgesController: Controller {
    let store: any AppStore & BridgeStore
    /// The addresses that callers with keys of single apps may name.
    var addresses = AddressPolicy()
    let time: any TimeSource
    let logger: Logger

    /// The settings of each kind that can be configured.
    private static let kinds: [BridgeKind: any BridgeSettings.Type] = [
        .binary: BinaryBridgeSettings.self,
        .gorush: GorushSettings.self,
        .fcm: FCMSettings.self,
        .xmpp: ComponentSettings.self,
        .matrix: MatrixSettings.self,
    ]

    /// The kinds whose clients have the secret in their URLs. Anyone can try to guess it there.
    private static let guessed: Set<BridgeKind> = [.gorush, .fcm]

    private static let settings = Member.openObject("settings").described("The settings of the kind.")
    private static let secret = Member.text("secret", 1...256)
        .described(
            """
            The secret shared with the other system, for `gorush` and `fcm` of at least \(BridgeAuthenticator.goodSecret) \
            bytes. Default: the present one.
            """
        )
    private static let generateSecret = Member.bool("generateSecret")
        .described("`true` makes a secret, which this response has once.")
    private static let request = RequestObject(
        optional: [Member.environment, Self.settings, Self.secret, Self.generateSecret]
    )

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

    private func list(_ request: OperationRequest) async throws -> Response {
        let app = try await request.app(self.store)
        return try .page("bridges", try await self.store.bridges(app: app.id).map { BridgeResponse(bridge: $0) })
    }

    private func show(_ request: OperationRequest) async throws -> Response {
        let app = try await request.app(self.store)
        let (kind, name) = try self.address(request)
        guard let bridge = try await self.store.bridge(kind, name: name), bridge.app == app.id else {
            throw Self.noBridge
        }
        return try .json(BridgeResponse(bridge: bridge))
    }

    private func set(_ request: OperationRequest) async throws -> Response {
        let app = try await request.app(self.store)
        let (kind, name) = try self.address(request)
        guard let settings = Self.kinds[kind] else {
            throw RequestError.invalid("kind", "bridges of this kind are not configured here")
        }
        try settings.check(name: name)
        let fields = try await request.fields(Self.request)
        let given = try fields.value(Self.settings) ?? [:]
        try settings.check(given, at: "settings")
        var kept = given
        if kind == .xmpp, request.caller?.apps != nil, try await self.mustBePublic(given, of: name, app) {
            kept[ComponentSettings.publicOnly] = .bool(true)
        }
        let made = try fields.value(Self.generateSecret) == true ? BridgeAuthenticator.makeSecret() : nil
        let chosen = try fields.value(Self.secret)
        guard made == nil || chosen == nil else {
            throw RequestError.invalid("secret", "a secret is either given or made")
        }
        if let chosen, Self.guessed.contains(kind), chosen.utf8.count < BridgeAuthenticator.goodSecret {
            let message = """
                the URL of the client has it, so it needs at least \(BridgeAuthenticator.goodSecret) bytes: "generateSecret": true makes one
                """
            throw RequestError(.invalid, code: "too_short", message: message, path: "secret")
        }
        let secret = made ?? chosen
        let bridge = BridgeRecord(
            kind: kind,
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

    /// Checks the server of a component for a caller with a key of single apps. A server that is set already may stay.
    /// - Returns: `true` if its name may resolve to public addresses only.
    private func mustBePublic(
        _ given: [String: JSONValue],
        of name: String,
        _ app: AppRecord
    ) async throws -> Bool {
        let fields = try JSONFields(members: given, path: "settings", known: ComponentSettings.members)
        let settings = try ComponentSettings(fields)
        if let bridge = try await self.store.bridge(.xmpp, name: name), bridge.app == app.id,
            let before = try? ComponentSettings(bridge), before.host == settings.host, before.port == settings.port
        {
            return before.isPublicOnly
        }
        try settings.checkServer(self.addresses)
        return true
    }

    /// Stores a bridge.
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
        let (kind, name) = try self.address(request)
        guard try await self.store.removeBridge(kind, name: name, app: app.id) else { throw Self.noBridge }
        return .noContent
    }

    /// Returns the kind and the name in the path.
    private func address(_ request: OperationRequest) throws -> (BridgeKind, String) {
        guard let kind = BridgeKind(rawValue: request.path("kind")) else {
            let kinds = BridgeKind.allCases.map(\.rawValue).joined(separator: ", ")
            throw RequestError(.notFound, code: "no_such_kind", message: "use one of \(kinds)", path: "kind")
        }
        let name = request.path("bridge")
        guard (1...BridgeRecord.maximumName).contains(name.utf8.count), !name.contains(where: \.isWhitespace) else {
            let message = "a name has 1 to \(BridgeRecord.maximumName) bytes and no spaces"
            throw RequestError.invalid("bridge", message)
        }
        return (kind, name)
    }

    private static var noBridge: RequestError { .noSuch("bridge", by: "kind and name", at: "bridge") }
}

/// A bridge in a response.
struct BridgeResponse: ResponseObject {
    let bridge: BridgeRecord
    /// The secret that was made for the bridge, if this response shows it.
    var secret: String?

    private var hasSecret: Bool { !self.bridge.secret.isEmpty }

    /// The settings without the members that the provider adds.
    private var settings: JSONValue {
        guard self.bridge.kind == .xmpp, case .object(let members) = self.bridge.settings else {
            return self.bridge.settings
        }
        return .object(members.filter { !ComponentSettings.hiddenMembers.contains($0.key) })
    }

    static let schemaName: String? = "Bridge"
    static let members: [ResponseMember<Self>] = [
        .required("kind", \.bridge.kind),
        .required("name", \.bridge.name, "The name by which the other system addresses it."),
        .optional("environment", \.bridge.environment, "Absent: the environment of each device."),
        .required("settings", \.settings),
        .required("hasSecret", \.hasSecret),
        .optional("secret", \.secret, "Only in the response to `generateSecret`."),
        .required("changedAtMs", \.bridge.changedAt),
    ]
}

extension BridgeKind: JSONRepresentable {}
