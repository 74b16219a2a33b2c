public import Foundation

/// Carries requests to the provider.
public protocol MartletTransport: Sendable {
    /// Sends a request and returns its response, whatever its status.
    /// - Throws: An error of the network, and one if the response exceeds a limit of the request.
    func send(_ request: TransportRequest) async throws -> TransportResponse
}

/// A request to the provider.
public struct TransportRequest: Hashable, Sendable {
    public var method: String
    public var url: URL
    /// The header fields, with names in lower case.
    public var headers: [String: String]
    public var body: Data
    /// The time for the whole exchange.
    public var deadline: Duration
    /// The longest response that is read, in bytes.
    public var maximumResponse: Int

    public init(
        method: String,
        url: URL,
        headers: [String: String] = [:],
        body: Data = Data(),
        deadline: Duration = .seconds(30),
        maximumResponse: Int = 256 * 1024
    ) {
        (self.method, self.url, self.headers, self.body) = (method, url, headers, body)
        (self.deadline, self.maximumResponse) = (deadline, maximumResponse)
    }
}

/// A response of the provider.
public struct TransportResponse: Hashable, Sendable {
    public var status: Int
    /// The header fields, with names in lower case.
    public var headers: [String: String]
    public var body: Data

    public init(status: Int, headers: [String: String] = [:], body: Data = Data()) {
        (self.status, self.headers, self.body) = (status, headers, body)
    }
}

/// An error of a transport.
public enum TransportError: Error, Hashable, Sendable, CustomStringConvertible {
    /// There was no whole response in time.
    case deadlineExceeded
    /// The response is longer than the request allows.
    case responseTooLarge
    /// The response is none of HTTP.
    case noHTTPResponse

    public var description: String {
        switch self {
        case .deadlineExceeded: "there was no whole response in time: check the network and the provider"
        case .responseTooLarge: "the response is too large: check that the URL is the provider's"
        case .noHTTPResponse: "the response is not HTTP: check that the URL is the provider's"
        }
    }
}
