import Foundation
import MartletKit
import Synchronization

/// Answers requests as a script says, and keeps them.
final class ScriptedTransport: DownloadTransport {
    typealias Answer = @Sendable (TransportRequest) throws -> TransportResponse

    struct Offline: Error {}

    private let answer: Mutex<Answer>
    private let log = Mutex<[TransportRequest]>([])
    private let silence = Mutex(false)

    init(_ answer: @escaping Answer) { self.answer = Mutex(answer) }

    var requests: [TransportRequest] { self.log.withLock { $0 } }

    /// The bodies of requests of a method.
    func bodies(_ method: String = "PUT") -> [[String: JSONValue]] {
        self.requests.filter { $0.method == method }.compactMap { JSONValue(json: $0.body)?.object }
    }

    func answer(_ answer: @escaping Answer) { self.answer.withLock { $0 = answer } }

    /// Has all further requests go without a response.
    func fallSilent() { self.silence.withLock { $0 = true } }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        self.log.withLock { $0.append(request) }
        if self.silence.withLock({ $0 }) { try await Task.sleep(for: .seconds(3600)) }
        return try self.answer.withLock { $0 }(request)
    }

    /// Hands the body on in pieces.
    func receive(_ request: TransportRequest, _ part: @escaping @Sendable (ResponsePart) throws -> Void) async throws {
        var response = try await self.send(request)
        var body = response.body[...]
        response.body = Data()
        try part(.head(response))
        while !body.isEmpty {
            try part(.body(Data(body.prefix(Self.piece))))
            body = body.dropFirst(Self.piece)
        }
    }

    private static let piece = 700
}

extension TransportResponse {
    static func json(_ status: Int, _ value: JSONValue, headers: [String: String] = [:]) -> TransportResponse {
        TransportResponse(status: status, headers: headers, body: value.json)
    }

    static func error(_ status: Int, _ code: String, _ field: String? = nil) -> TransportResponse {
        var error: [String: JSONValue] = ["code": .string(code), "message": "no"]
        error["field"] = field.map { .string($0) }
        return .json(status, .object(["error": .object(error)]))
    }

    /// What a provider answers that has no objection.
    static func usual(_ request: TransportRequest) -> TransportResponse {
        switch request.method {
        case "PUT": .json(200, .object(["secret": "s1"]))
        case "POST":
            .json(
                200,
                .object([
                    "accepted": .integer(Int64(JSONValue(json: request.body)?.object?["receipts"]?.array?.count ?? 0)),
                    "repeated": 0, "refused": .array([]),
                ])
            )
        default: TransportResponse(status: 204)
        }
    }
}
