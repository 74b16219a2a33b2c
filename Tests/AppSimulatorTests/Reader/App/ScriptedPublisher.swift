import Crypto
import Foundation
import MartletKit
import Synchronization

/// A provider with issues, without a network: it answers the requests of a reader, and breaks off as a test says.
final class ScriptedPublisher: DownloadTransport {
    /// The content of a file by its hash.
    private struct State {
        var files: [String: Data] = [:]
        var issues: [(product: String, hash: String, size: Int)] = []
        var requests: [TransportRequest] = []
        /// The bytes after which the next downloads break off.
        var breaks: [Int] = []
        /// The responses that come instead of the usual ones, by the end of the path.
        var answers: [String: [TransportResponse]] = [:]
        /// The content that is sent instead of the file's.
        var forged: Data?
    }

    private struct Broken: Error {}
    private static let piece = 1000

    private let state = Mutex(State())

    var requests: [TransportRequest] { self.state.withLock { $0.requests } }
    /// The paths of the requests, without what comes before the last part.
    var paths: [String] { self.requests.map { $0.url.lastPathComponent } }

    /// Publishes an issue, which is the newest then.
    func publish(_ product: String, size: Int = 5000) {
        let content = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ product.utf8.count) })
        let hash = SHA256.hash(data: content).map { String(format: "%02x", $0) }.joined()
        self.state.withLock { state in
            state.files[hash] = content
            state.issues.insert((product, hash, size), at: 0)
        }
    }

    func withdraw(_ product: String) { self.state.withLock { $0.issues.removeAll { $0.product == product } } }

    /// Breaks the next download off after so many bytes, before it is answered in another way.
    func breakOff(after bytes: Int) { self.state.withLock { $0.breaks.append(bytes) } }

    /// Sends other bytes than those of the file from now on; `nil` for its own.
    func forge(_ content: Data?) { self.state.withLock { $0.forged = content } }

    /// Answers the next request for a path in another way.
    func answer(_ path: String, _ status: Int, _ body: String = "", headers: [String: String] = [:]) {
        let response = TransportResponse(status: status, headers: headers, body: Data(body.utf8))
        self.state.withLock { $0.answers[path, default: []].append(response) }
    }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        self.state.withLock { state in
            state.requests.append(request)
            let path = request.url.lastPathComponent
            if let next = state.answers[path]?.first {
                state.answers[path]?.removeFirst()
                return next
            }
            switch path {
            case "catalogue": return Self.catalogue(state, request)
            case "entitlements":
                let json = JSONValue(json: request.body)?.object?["productIds"]?.array?.compactMap(\.string) ?? []
                let entries = json.map { #"{"productId":"\#($0)","entitled":true,"by":"free"}"# }
                return Self.json("{\"entitlements\":[\(entries.joined(separator: ","))]}")
            case "register": return TransportResponse(status: 200, body: Data("OK 1".utf8))
            default: return Self.grant(state, product: String(path.prefix { $0 != ":" }))
            }
        }
    }

    func receive(_ request: TransportRequest, _ part: @escaping @Sendable (ResponsePart) throws -> Void) async throws {
        let (response, content, end) = self.state.withLock { state -> (TransportResponse, Data, Int?) in
            state.requests.append(request)
            let hash = request.url.lastPathComponent
            let end = state.breaks.isEmpty ? nil : state.breaks.removeFirst()
            if end == nil, let next = state.answers["file"]?.first {
                state.answers["file"]?.removeFirst()
                return (TransportResponse(status: next.status, headers: next.headers), next.body, nil)
            }
            let content = state.forged ?? state.files[hash] ?? Data()
            let range = request.headers["range"].flatMap { Int($0.dropFirst("bytes=".count).dropLast()) }
            guard let range, request.headers["if-range"] == "\"\(hash)\"" else {
                return (TransportResponse(status: 200), content, end)
            }
            let headers = ["content-range": "bytes \(range)-\(content.count - 1)/\(content.count)"]
            return (TransportResponse(status: 206, headers: headers), Data(content.dropFirst(range)), end)
        }
        try part(.head(response))
        var sent = 0
        while sent < content.count {
            if let end, sent >= end { throw Broken() }
            let bytes = Data(content.dropFirst(sent).prefix(Self.piece))
            try part(.body(bytes))
            sent += bytes.count
        }
    }

    // MARK: - Responses

    private static func json(_ text: String, headers: [String: String] = [:]) -> TransportResponse {
        TransportResponse(status: 200, headers: headers, body: Data(text.utf8))
    }

    private static func catalogue(_ state: State, _ request: TransportRequest) -> TransportResponse {
        let tag = "\"\(state.issues.map(\.product).joined(separator: "-"))\""
        if request.headers["if-none-match"] == tag { return TransportResponse(status: 304) }
        let entries = state.issues.enumerated().map { index, issue in
            """
            {"productId":"\(issue.product)","publication":"\(Samples.publication)","publicationName":"The Example",
            "title":"Title","date":"2026-11-\(28 - index)","access":"free","renditions":[]}
            """
        }
        return self.json("{\"issues\":[\(entries.joined(separator: ","))]}", headers: ["etag": tag])
    }

    private static func grant(_ state: State, product: String) -> TransportResponse {
        guard let issue = state.issues.first(where: { $0.product == product }) else {
            let body = #"{"error":{"code":"issue_withdrawn","message":"withdrawn"}}"#
            return TransportResponse(status: 404, body: Data(body.utf8))
        }
        return self.json(
            """
            {"productId":"\(product)","url":"/v1/files/\(issue.hash)","size":\(issue.size),"sha256":"\(issue.hash)",
            "contentType":"application/zip","screenSize":"2048x1536","match":"exact","entitledBy":"free"}
            """
        )
    }
}
