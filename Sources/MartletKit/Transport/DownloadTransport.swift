public import Foundation

/// Carries downloads too, whose bodies are too long for the memory.
public protocol DownloadTransport: MartletTransport {
    /// Sends a request, and hands on the parts of its response as they arrive, in order and one at a time.
    ///
    /// The network waits while a part is worked on. ``TransportRequest/deadline`` is the longest time without a byte, and
    /// ``TransportRequest/maximumResponse`` does not count.
    /// - Parameter part: Takes a part. Its error ends the exchange.
    /// - Throws: The error of `part`, and errors of the network.
    func receive(_ request: TransportRequest, _ part: @escaping @Sendable (ResponsePart) throws -> Void) async throws
}

/// A part of a response.
public enum ResponsePart: Hashable, Sendable {
    /// Status and header fields; the body is empty.
    case head(TransportResponse)
    case body(Data)
}
