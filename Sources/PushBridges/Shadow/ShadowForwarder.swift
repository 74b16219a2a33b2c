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
    /// The longest answer of an old server to any request, in bytes.
    static let maximumAnswer = 8 * 1024 * 1024
    /// The longest answer to a request for one token, in bytes.
    static let shortAnswer = 64 * 1024
    /// The fields of a request that the old server gets, besides the credential.
    private static let forwarded = ["content-type", "user-agent", "x-goog-api-format-version", "x-firebase-client"]

    let client: RestrictedHTTPClient
    /// The memory that answers take.
    let bytes: Budget
    let store: any ShadowStore
    let time: any TimeSource
    let logger: Logger

    /// The answer of an old server, which is in memory on the account of its app until the client has it.
    struct Answer: Sendable {
        let status: Int
        let headers: HTTPHeaders
        let body: Data
        /// The memory of the body.
        let held: BudgetPermit
    }

    /// The reason for which there is no answer.
    enum Failure: Error, Sendable {
        /// There is no room for an answer now: nothing was sent.
        case noRoom(BudgetRefusal)
        case unanswered(PinnedClientFailure)

        /// The failure in words.
        var text: String {
            switch self {
            case .noRoom(let refusal): "not asked: \(refusal.error.error.message)"
            case .unanswered(let failure): failure.text
            }
        }
    }

    /// Returns the longest answer to a request, in bytes.
    ///
    /// The old server has pushed when it answers, so an answer that is too long for this provider costs a second push.
    /// - Parameter bytes: The longest part with an entry for each token.
    static func longestAnswer(withEntriesOf bytes: Int) -> Int {
        bytes < Self.maximumAnswer - Self.shortAnswer ? Self.shortAnswer + bytes : Self.maximumAnswer
    }

    /// Sends a request on, once there is room for the longest answer.
    ///
    /// - Parameters:
    ///   - target: The path and the query of the old server's API.
    ///   - longest: The longest answer, in bytes.
    ///   - passesCredential: `true` sends the client's own `authorization` on. It is `false` where that is our API key.
    /// - Throws: ``Failure``.
    func ask(
        _ upstream: String,
        target: String,
        _ request: Request,
        body: Data,
        app: AppRecord,
        longest: Int,
        passesCredential: Bool
    ) async throws(Failure) -> Answer {
        let held: BudgetPermit
        do throws(BudgetRefusal) {
            held = try self.bytes.take(longest, for: BudgetCaller(app: app.bundleID))
        } catch {
            throw .noRoom(error)
        }
        var headers = HTTPHeaders()
        for name in Self.forwarded + (passesCredential ? ["authorization"] : []) {
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
            throw .unanswered(error)
        }
    }

    /// Returns `true` for a status that a response has. One below 200, such as 101, is no end of a request, and would change what
    /// the connection of the client is for.
    static func isHandedOn(_ status: Int) -> Bool { (200...599).contains(status) }

    /// Returns the old server's answer as the response to the client. It holds its memory until it is written.
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
    /// Notes that the old server gave no answer.
    init(unanswered why: String, at: Timestamp) {
        self.init()
        self.differ("upstream", ours: "asked", theirs: why, at: at)
    }

    /// Adds a difference, of which nothing is kept but reasons and names, unless there are as many as are kept.
    mutating func differ(
        _ subject: String,
        field: String? = nil,
        ours: String,
        theirs: String,
        at: Timestamp
    ) {
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

    /// Returns a reason in an old server's answer, or that it is another text: such a text may repeat a content.
    static func reason(_ text: String) -> String {
        let isReason = (1...64).contains(text.utf8.count) && text.utf8.allSatisfy { $0.isAlphanumeric || $0 == 0x5f }
        return isReason ? text : text.isEmpty ? "no reason" : "another text"
    }
}
