import AsyncHTTPClient
package import Foundation
import NIOCore
import NIOHTTP1
package import PushSupport

/// Calls one of our HTTP APIs as any client would.
package struct JSONClient: Sendable {
    package struct Response: Sendable {
        package var status: Int
        package var headers: [String: String]
        package var body: Data

        /// The body as JSON; `null` for none.
        package var json: JSONValue { (try? JSONValue(parsing: self.body)) ?? .null }
        package var code: String? { self.json["error"]["code"].stringValue }
        package var field: String? { self.json["error"]["field"].stringValue }
    }

    package var baseURL: String
    package var apiKey: String?

    package init(baseURL: String, apiKey: String? = nil) {
        self.baseURL = baseURL
        self.apiKey = apiKey
    }

    @discardableResult
    package func get(_ path: String) async throws -> Response { try await self.call("GET", path, nil) }

    @discardableResult
    package func delete(_ path: String) async throws -> Response { try await self.call("DELETE", path, nil) }

    @discardableResult
    package func post(_ path: String, _ body: JSONValue, headers: [String: String] = [:]) async throws
        -> Response
    {
        try await self.call("POST", path, try body.text, headers: headers)
    }

    @discardableResult
    package func put(_ path: String, _ body: JSONValue) async throws -> Response {
        try await self.call("PUT", path, try body.text)
    }

    @discardableResult
    package func call(
        _ method: String,
        _ path: String,
        _ body: Data?,
        headers: [String: String] = [:]
    ) async throws -> Response {
        var request = HTTPClientRequest(url: self.baseURL + path)
        request.method = HTTPMethod(rawValue: method)
        if let apiKey { request.headers.add(name: "authorization", value: "Bearer \(apiKey)") }
        for (name, value) in headers { request.headers.replaceOrAdd(name: name, value: value) }
        if let body { request.body = .bytes(ByteBuffer(bytes: body)) }
        let response = try await HTTPClient.shared.execute(request, timeout: .patience)
        let answer = try await response.body.collect(upTo: 16 * 1024 * 1024)
        return Response(
            status: Int(response.status.code),
            headers: Dictionary(response.headers.map { ($0.name.lowercased(), $0.value) }) { $1 },
            body: Data(answer.readableBytesView)
        )
    }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral {
    package init(stringLiteral value: String) { self = .string(value) }
    package init(integerLiteral value: Int64) { self = .integer(value) }
    package init(booleanLiteral value: Bool) { self = .bool(value) }
}

extension JSONValue: ExpressibleByStringInterpolation, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral {
    package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    package init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(Dictionary(elements) { $1 })
    }
}
