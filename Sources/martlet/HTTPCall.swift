import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1

/// One request to an HTTP API of ours: JSON out, JSON in.
struct HTTPCall: Sendable {
    static let timeout: TimeAmount = .seconds(15)
    static let maximumReplyLength = 4 * 1024 * 1024

    /// An answer that is no success, with what the server said.
    struct Refused: Error, CustomStringConvertible {
        let status: UInt
        let text: String

        var description: String { "the server answered \(self.status): \(self.text)" }
    }

    enum Method: String {
        case get = "GET"
        case post = "POST"
        case put = "PUT"
    }

    /// Says at once when nobody listens, instead of trying again until the time is up.
    private static let client = {
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        configuration.connectionPool.retryConnectionEstablishment = false
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }()

    /// Without a slash at the end.
    let baseURL: String
    let apiKey: String?

    init(baseURL: String, apiKey: String? = nil) {
        self.baseURL = baseURL.hasSuffix("/") ? String(baseURL.dropLast()) : baseURL
        self.apiKey = apiKey
    }

    /// The answer's JSON object; empty for an empty body.
    /// - Throws: ``Refused``, or an error that names the URL when there was no answer.
    @discardableResult
    func callAsFunction(
        _ method: Method,
        _ path: String,
        headers: [(String, String)] = [],
        body: [String: Any]? = nil
    ) async throws -> [String: Any] {
        var request = HTTPClientRequest(url: self.baseURL + path)
        request.method = HTTPMethod(rawValue: method.rawValue)
        request.headers = HTTPHeaders(headers + [("content-type", "application/json")])
        if let apiKey { request.headers.add(name: "authorization", value: "Bearer \(apiKey)") }
        if let body { request.body = .bytes(ByteBuffer(bytes: try JSONSerialization.data(withJSONObject: body))) }
        let response: HTTPClientResponse
        do {
            response = try await Self.client.execute(request, timeout: Self.timeout)
        } catch {
            throw SettingsError("no answer from \(self.baseURL): is it running? (\(error))")
        }
        let answer = try await response.body.collect(upTo: Self.maximumReplyLength)
        guard (200..<300).contains(response.status.code) else {
            throw Refused(status: response.status.code, text: String(buffer: answer))
        }
        return try JSONSerialization.jsonObject(with: Data(answer.readableBytesView)) as? [String: Any] ?? [:]
    }
}
