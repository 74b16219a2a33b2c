import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOHTTP1
import PushProvider
import PushStore
import PushSupport
import PushTypes

/// Asks an old server in the place of a bridge in shadow mode, and keeps how its answer differs from the bridge's.
struct ShadowForwarder: Sendable {
    /// The longest answer of an old server, in bytes.
    private static let maximumAnswer = 8 * 1024 * 1024
    /// The fields of a request that the old server gets, besides the credential.
    private static let forwarded = ["content-type", "user-agent", "x-goog-api-format-version", "x-firebase-client"]

    let client: GuardedClient
    let store: any ProviderStore
    let time: any TimeSource
    let logger: Logger

    /// Sends a request on.
    ///
    /// - Parameters:
    ///   - target: The path and the query of the old server's API.
    ///   - passesCredential: `true` sends the client's own `authorization` on. It is `false` where that is our API key.
    /// - Throws: ``PinnedClientFailure``.
    func ask(
        _ upstream: String,
        target: String,
        _ request: Request,
        body: Data,
        app: Int64,
        passesCredential: Bool
    ) async throws(PinnedClientFailure) -> GuardedClient.Response {
        var headers = HTTPHeaders()
        for name in Self.forwarded + (passesCredential ? ["authorization"] : []) {
            guard let field = HTTPField.Name(name), let value = request.headers[field] else { continue }
            headers.add(name: name, value: value)
        }
        let base = upstream.hasSuffix("/") ? String(upstream.dropLast()) : upstream
        return try await self.client.request(
            .POST,
            base + target,
            headers: headers,
            body: body,
            app: app,
            maximum: Self.maximumAnswer
        )
    }

    /// Returns the old server's answer as the response to the client.
    static func response(_ answer: GuardedClient.Response) -> Response {
        var headers: HTTPFields = [:]
        for name in ["content-type", "x-gorush-version", "retry-after"] {
            guard let field = HTTPField.Name(name), let value = answer.headers.first(name: name) else { continue }
            headers[field] = value
        }
        let body = ResponseBody(byteBuffer: ByteBuffer(bytes: answer.body))
        return Response(status: .init(code: answer.status), headers: headers, body: body)
    }

    /// Keeps a comparison. A failure is logged, and does not concern the client.
    func keep(_ comparison: ShadowComparison, of bridge: BridgeRecord) async {
        do {
            try await self.store.addShadow(
                comparison,
                of: bridge.kind,
                name: bridge.name,
                app: bridge.app,
                now: self.time.now
            )
        } catch {
            self.logger.warning(
                "comparison with an old server could not be kept",
                metadata: ["bridge": "\(bridge.name)", "error": "\(error)"]
            )
        }
    }
}

extension ShadowComparison {
    /// Adds a difference, of which nothing is kept but reasons and names.
    mutating func differ(
        _ subject: String,
        field: String? = nil,
        ours: String,
        theirs: String,
        at: Timestamp
    ) {
        self.differences.append(
            ShadowDifference(
                at: at,
                subject: subject,
                field: field.map { Self.short($0) },
                ours: Self.short(ours),
                theirs: Self.short(theirs)
            )
        )
    }

    private static func short(_ text: String) -> String { text.bounded(bytes: ShadowDifference.maximumText) }

    /// Returns a reason in an old server's answer, or that it is another text: such a text may repeat a content.
    static func reason(_ text: String) -> String {
        let isReason = (1...64).contains(text.utf8.count) && text.utf8.allSatisfy { $0.isAlphanumeric || $0 == 0x5f }
        return isReason ? text : text.isEmpty ? "no reason" : "another text"
    }
}
