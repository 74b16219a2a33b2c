import Hummingbird
import ProviderModel
import PushHTTP
import PushStore
import PushSupport
import PushTypes
import PushWire

/// The operations at `/v1/apps/{app}/vapid`, which manage the keys with which an app identifies itself to browsers'
/// push services (RFC 8292).
struct VAPIDController: Controller {
    let store: any AppStore & WebPushStore
    let time: any TimeSource

    var operations: [ProviderOperation] {
        let path = "/v1/apps/{app}/vapid"
        let shown = ResponseDescription.ok(VAPIDResponse.schema)
        let operations: [ProviderOperation] = [
            .init(.get, path, id: "showVapid", self.show)
                .summary("The app's public VAPID keys: what pages subscribe with.")
                .scope(.read).responses(shown),
            .init(.put, path, .audited, id: "setVapid", self.set)
                .summary("Makes or takes the app's first VAPID key, and sets the contact.")
                .scope(.admin)
                .body(VAPIDKeyRequest.set.schema, maximum: 16 * 1024)
                .responses(shown).errors(.conflict),
            .init(.post, "\(path):rotate", .audited, id: "rotateVapid", self.rotate)
                .summary("Makes or takes a new VAPID key; earlier subscriptions keep theirs.")
                .scope(.admin).body(VAPIDKeyRequest.rotate.schema, maximum: 16 * 1024, isRequired: false)
                .responses(shown).errors(.conflict),
        ]
        return operations.map { $0.tag(.devices) }
    }

    private func show(_ request: OperationRequest) async throws -> Response {
        let app = try await request.app(self.store)
        do {
            return try .json(try await self.response(app))
        } catch var error as RequestError {
            error.kind = .notFound
            throw error
        }
    }

    private func set(_ request: OperationRequest) async throws -> Response {
        let app = try await request.app(self.store)
        let fields = try await request.fields(VAPIDKeyRequest.set)
        let contact = try fields.required(VAPIDKeyRequest.contact)
        let key = try fields.value(VAPIDKeyRequest.key)
        let known = try await self.store.vapidKeys(app: app.id)
        if let newest = known.first, key == nil || key?.publicKey == newest.publicKey {
            _ = try await self.store.setVAPIDContact(contact, app: app.id)
        } else {
            guard known.isEmpty else {
                let message = "the app has another key: POST \(request.http.uri.path):rotate takes this one"
                throw RequestError.conflict("other_vapid_key", message, at: "privateKey")
            }
            try await self.add(key ?? VAPIDKey(), contact: contact, to: app)
        }
        return try .json(try await self.response(app))
    }

    private func rotate(_ request: OperationRequest) async throws -> Response {
        let app = try await request.app(self.store)
        let fields = try await request.fields(VAPIDKeyRequest.rotate)
        guard let newest = try await self.store.vapidKeys(app: app.id).first else { throw RequestError.noVAPIDKey }
        try await self.add(try fields.value(VAPIDKeyRequest.key) ?? VAPIDKey(), contact: newest.contact, to: app)
        return try .json(try await self.response(app))
    }

    private func add(_ key: VAPIDKey, contact: String, to app: AppRecord) async throws {
        let record = VAPIDKeyRecord(
            app: app.id,
            publicKey: key.publicKey,
            privateKey: key.privateKey,
            contact: contact,
            createdAt: self.time.now
        )
        guard try await self.store.addVAPIDKey(record) else {
            let message = "subscriptions use \(VAPIDKeyRecord.maximumCount) keys of the app: keep the newest one"
            throw RequestError.conflict("too_many_vapid_keys", message)
        }
    }

    private func response(_ app: AppRecord) async throws -> VAPIDResponse {
        let keys = try await self.store.vapidKeys(app: app.id)
        guard let newest = keys.first else { throw RequestError.noVAPIDKey }
        return VAPIDResponse(newest: newest, earlier: keys.dropFirst().map { Base64URL.encode($0.publicKey) })
    }
}

/// The response object for an app's VAPID keys for Web Push, without the private keys.
private struct VAPIDResponse: ResponseObject {
    let newest: VAPIDKeyRecord
    /// The earlier public keys, which existing subscriptions may still use.
    let earlier: [String]

    private var publicKey: String { Base64URL.encode(self.newest.publicKey) }

    static let schemaName: String? = "Vapid"
    static let members: [ResponseMember<Self>] = [
        .required("publicKey", \.publicKey, "The applicationServerKey of new subscriptions, in base64url."),
        .required("contact", \.newest.contact),
        .required("earlierKeys", \.earlier, "The public keys of earlier subscriptions."),
        .required("createdAtMs", \.newest.createdAt),
    ]
}

extension RequestError {
    /// The error for an app that has no VAPID key and therefore cannot send to browsers.
    static var noVAPIDKey: RequestError {
        .conflict("no_vapid_key", "the app has no VAPID key: PUT /v1/apps/{app}/vapid makes one")
    }
}
