import HTTPTypes
import Hummingbird
import PushHTTP
import PushSupport

/// `/v1/token-keys`: the keys that seal device tokens.
struct TokenKeysController: AdminRoutes {
    let mint: TokenMinter
    let directory: SharedDataDirectory

    private struct Rotated: Encodable {
        /// The key that seals from now on.
        var tokenKeyId: UInt8
    }

    func addRoutes(to group: RouterGroup<AdminContext>) {
        group.post("token-keys", use: self.rotate)
    }

    /// A new key. Tokens of earlier keys stay good until their device has asked for new ones.
    @Sendable private func rotate(_ request: Request, _ context: AdminContext) async throws -> Response {
        let id: UInt8? = try self.directory.use { directory in
            let count = Int(self.mint.currentKeyID)
            guard count < TokenMinter.maximumKeys else { return nil }
            return self.mint.rotate(to: try TokenKeyFiles.makeNext(after: count, in: directory))
                ? self.mint.currentKeyID : nil
        }
        guard let id else {
            throw RequestError(
                .conflict,
                code: "too_many_token_keys",
                message: "there are \(TokenMinter.maximumKeys) token keys, which is the most there can be"
            )
        }
        return try JSONResponse.make(.created, Rotated(tokenKeyId: id))
    }
}
