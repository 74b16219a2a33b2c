import HTTPTypes
import Hummingbird
import PushHTTP
import PushSupport

/// `/v1/token-keys`: the keys that encrypt device tokens.
struct AdminTokenKeysController: Controller {
    let minter: TokenMinter
    let directory: SharedDataDirectory

    var operations: [AdminOperation] {
        let summary = "Creates a key that encrypts device tokens from now on."
        return [.post("/v1/token-keys", "rotateTokenKey", summary, self.rotate)]
    }

    /// Creates a key. Tokens of earlier keys stay valid until their device has requested new ones.
    private func rotate(_ request: OperationRequest) async throws -> Response {
        let id: UInt8? = try self.directory.use { directory in
            let count = Int(self.minter.currentKeyID)
            guard count < TokenMinter.maximumKeys else { return nil }
            return self.minter.rotate(to: try TokenKeyFiles.makeNext(after: count, in: directory))
                ? self.minter.currentKeyID : nil
        }
        guard let id else {
            let message = "there are at most \(TokenMinter.maximumKeys) token keys"
            throw RequestError.conflict("too_many_token_keys", message)
        }
        return try .json(["tokenKeyId": id], status: .created)
    }
}
