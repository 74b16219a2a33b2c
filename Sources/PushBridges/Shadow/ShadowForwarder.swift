import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOHTTP1
import ProviderModel
import PushProvider
import PushStore
import PushSupport
import PushTypes

/// Forwards requests that a bridge in shadow mode receives to the old server, which the bridge is to replace. It stores
/// the differences between the responses of the two.
struct ShadowForwarder: Sendable {
    /// The maximum length of an old server's response, in bytes. A longer one counts as no response.
    static let maximumAnswer = 8 * 1024 * 1024
    /// The maximum length of the old server's response to a one-token request, in bytes. A longer one counts as none.
    static let shortAnswer = 64 * 1024
    /// The names of the header fields that are forwarded to the old server, besides `authorization`.
    private static let forwarded = ["content-type", "user-agent", "x-goog-api-format-version", "x-firebase-client"]

    let client: RestrictedHTTPClient
    /// The memory budget for old servers' responses.
    let bytes: Budget
    let store: any ShadowStore
    let time: any TimeSource
    let logger: Logger

    /// The response of an old server. Its memory is charged to its app until the client has received it.
    struct Answer: Sendable {
        let status: Int
        let headers: HTTPHeaders
        let body: Data
        let held: BudgetPermit
    }

    /// Returns the maximum length of the old server's response to a request, in bytes.
    ///
    /// The old server has sent the pushes when it responds. If its response is too long, the client may repeat the
    /// request and so cause a second push.
    /// - Parameter bytes: The maximum total length of the entries for the request's tokens.
    static func longestAnswer(withEntriesOf bytes: Int) -> Int {
        bytes < Self.maximumAnswer - Self.shortAnswer ? Self.shortAnswer + bytes : Self.maximumAnswer
    }

    /// Forwards a request to the old server once the memory for its longest response is reserved. Stores a difference
    /// if there is no response.
    ///
    /// The client's `authorization` field is forwarded only if the bridge's secret is in the path. Otherwise the field
    /// contains an API key of the provider.
    /// - Parameters:
    ///   - target: The path and the query of the old server's API.
    ///   - longest: The maximum length of the response, in bytes.
    /// - Returns: The response, or `nil` if no old server is configured.
    /// - Throws: `BudgetRefusal` if the memory cannot be reserved, without sending the request. `PinnedClientFailure`
    ///   if there is no response.
    func ask(
        _ settings: ShadowSettings,
        target: String,
        _ request: Request,
        body: Data,
        app: AppRecord,
        bridge: BridgeRecord,
        _ admission: BridgeAuthenticator.Admission,
        longest: Int,
        at time: Timestamp
    ) async throws -> Answer? {
        guard let upstream = settings.upstream else { return nil }
        let held: BudgetPermit
        do throws(BudgetRefusal) {
            held = try self.bytes.take(longest, for: BudgetCaller(app: app.bundleID))
        } catch {
            let why = "not asked: \(error.error.error.message)"
            await self.keep(ShadowComparison(unanswered: why, at: time), of: bridge)
            throw error
        }
        var names = Self.forwarded
        if case .secret = admission { names.append("authorization") }
        var headers = HTTPHeaders()
        for name in names {
            guard let field = HTTPField.Name(name), let value = request.headers[field] else { continue }
            headers.add(name: name, value: value)
        }
        let base = upstream.hasSuffix("/") ? String(upstream.dropLast()) : upstream
        do throws(PinnedClientFailure) {
            let response = try await self.client.request(
                .POST,
                base + target,
                headers: headers,
                body: body,
                app: app.id,
                maximum: longest
            )
            guard Self.isHandedOn(response.status) else {
                throw .noResponse(reason: "its status is \(response.status), which no client understands")
            }
            held.reduce(to: response.body.count)
            return Answer(status: response.status, headers: response.headers, body: response.body, held: held)
        } catch {
            held.end()
            await self.keep(ShadowComparison(unanswered: error.text, at: time), of: bridge)
            throw error
        }
    }

    /// Returns whether a status is that of a final response. A status below 200, such as 101, does not complete a
    /// request, and could switch the protocol of the client's connection.
    static func isHandedOn(_ status: Int) -> Bool { (200...599).contains(status) }

    /// Returns the old server's response as one for the client. Its memory is released once the body is written.
    static func response(_ answer: Answer) -> Response {
        var headers: HTTPFields = [:]
        for name in ["content-type", "x-gorush-version", "retry-after"] {
            guard let field = HTTPField.Name(name), let value = answer.headers.first(name: name) else { continue }
            headers[field] = value
        }
        let (bytes, held) = (ByteBuffer(bytes: answer.body), answer.held)
        let body = ResponseBody(contentLength: bytes.readableBytes) { writer in
            try await writer.write(bytes)
            try await writer.finish(nil)
            held.end()
        }
        return Response(status: .init(code: answer.status), headers: headers, body: body)
    }

    /// Stores a comparison of two responses. An error is logged and not reported to the client.
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
    init(unanswered why: String, at: Timestamp) {
        self.init()
        self.differ("upstream", ours: "asked", theirs: why, at: at)
    }

    /// Adds a difference between the two responses, unless the maximum number is reached. Its strings are truncated.
    /// - Parameters:
    ///   - subject: The property that differs, such as `status`.
    ///   - field: The token or the member of the request that it concerns, or `nil` for the whole request.
    mutating func differ(_ subject: String, field: String? = nil, ours: String, theirs: String, at: Timestamp) {
        guard self.differences.count < Self.maximumDifferences else { return }
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

    /// Returns `text` if it looks like an error reason, such as `BadDeviceToken`. Any other string is replaced, because
    /// it may repeat message content.
    static func reason(_ text: String) -> String {
        let isReason = (1...64).contains(text.utf8.count) && text.utf8.allSatisfy { $0.isAlphanumeric || $0 == 0x5f }
        return isReason ? text : text.isEmpty ? "no reason" : "another text"
    }
}
