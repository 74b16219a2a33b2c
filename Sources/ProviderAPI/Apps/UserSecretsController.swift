import Foundation
import Hummingbird
import ProviderModel
import PushHTTP
import PushStore
import PushSupport

/// The operations at `/v1/apps/{app}/user-secrets`, which manage the secrets with which an app's back end signs user
/// proofs. A ``UserProof`` confirms the user of an installation.
struct UserSecretsController: Controller {
    /// The maximum number of user secrets of an app: the old and the new one of a rotation. Adding more is rejected.
    private static let maximum = 2

    let store: any AppStore & UserSecretStore
    let time: any TimeSource

    private struct Secret: ResponseObject {
        let record: UserSecretRecord
        /// The text of the secret in the response to its creation. It is `nil` in all others.
        var text: String?

        static let schemaName: String? = "UserSecret"
        static let members: [ResponseMember<Self>] = [
            .required("id", \.record.id), .required("createdAt", \.record.createdAt.rfc3339, "RFC 3339."),
            .optional("secret", \.text, "Only in the response to its creation."),
        ]
    }

    var operations: [ProviderOperation] {
        let all = "/v1/apps/{app}/user-secrets"
        let operations: [ProviderOperation] = [
            .init(.get, all, id: "listUserSecrets", "The app's user secrets, without their texts.", self.list)
                .responses(.ok(.list("userSecrets", of: Secret.schema))),
            .init(.post, all, .audited, id: "addUserSecret", self.add)
                .summary("Makes a secret; both of two are valid until one is removed.")
                .responses(.created(Secret.schema)).errors(.conflict),
            .init(.delete, "\(all)/{userSecret}", .audited, id: "deleteUserSecret", self.delete)
                .summary("Removes a secret: proofs signed with it are rejected from now on.").responses(.noContent),
        ]
        return operations.map { $0.tag(.apps).scope(.admin) }
    }

    private func list(_ request: OperationRequest) async throws -> Response {
        let app = try await request.app(self.store)
        return try .page("userSecrets", try await self.store.userSecrets(app: app.id).map { Secret(record: $0) })
    }

    private func add(_ request: OperationRequest) async throws -> Response {
        let app = try await request.app(self.store)
        let text = "us_\(RandomText.make())"
        let secret = UserSecretRecord(id: UUID(), createdAt: self.time.now, secret: text)
        guard try await self.store.addUserSecret(secret, app: app.id, limit: Self.maximum) else {
            let message = "an app has at most \(Self.maximum) user secrets: remove the one that is not used any more"
            throw RequestError.conflict("too_many_user_secrets", message)
        }
        request.made(secret.id)
        return try .json(Secret(record: secret, text: text), status: .created)
    }

    private func delete(_ request: OperationRequest) async throws -> Response {
        let app = try await request.app(self.store)
        guard let id = request.uuid("userSecret"), try await self.store.deleteUserSecret(id, app: app.id) else {
            throw RequestError.noSuch("userSecret")
        }
        return .noContent
    }
}
