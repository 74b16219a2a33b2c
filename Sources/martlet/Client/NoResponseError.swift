import AsyncHTTPClient
import Foundation
import NIOCore
import NIOSSL
import PushSupport

/// The error of a request that had no response.
struct NoResponseError: StatusError {
    let description: String
    /// Indicates whether the server may have carried the request out.
    let mayHaveArrived: Bool
    let status = ExitStatus.unavailable

    /// - Parameter url: The URL of the server.
    init(_ error: any Error, from url: String) {
        let (isSecure, text) = (url.hasPrefix("https:"), "\(error)")
        let failure = error as? HTTPClientError
        let isBroken = (error as? IOError).map { Self.broken.contains($0.errnoCode) } ?? false
        let mayBeSent = isBroken || error is CancellationError
        self.mayHaveArrived = failure.map { Self.afterConnecting.contains($0) } ?? mayBeSent
        let timeouts: [HTTPClientError] = [.deadlineExceeded, .readTimeout, .writeTimeout, .connectTimeout]
        if let failure, timeouts.contains(failure) {
            self.description = "\(url) did not respond in time"
        } else if failure == .remoteConnectionClosed {
            let hint = isSecure ? "" : "; a port that expects TLS does that: is it the right one?"
            self.description = "\(url) closed the connection without a response\(hint)"
        } else if text.contains("WRONG_VERSION_NUMBER") {
            self.description = "\(url) does not speak TLS there: use http, or another port"
        } else if text.contains("CERTIFICATE_VERIFY_FAILED") || error is NIOSSLExtraError {
            let remedy = "--api-authority names an authority of your own"
            self.description = "the certificate of \(url) is not trusted, has expired or is for another name: \(remedy)"
        } else {
            self.description = "no response from \(url): is it running? (\(ErrorDescription.of(error)))"
        }
    }

    /// The error of a response that began, and whose body does not arrive.
    init(ofBody error: any Error, from url: String) {
        self.mayHaveArrived = true
        let isTooLong = error is NIOTooManyBytesError
        let reason = isTooLong ? "it is longer than a command reads" : ErrorDescription.of(error)
        self.description = "the response of \(url) did not arrive as a whole (\(reason))"
    }

    /// The errors of requests that may have been sent.
    private static let afterConnecting: [HTTPClientError] = [
        .deadlineExceeded, .readTimeout, .writeTimeout, .remoteConnectionClosed, .cancelled,
    ]
    /// The errors of a connection that there was, as a proxy or a restart ends it.
    private static let broken: Set<CInt> = [ECONNRESET, EPIPE, ETIMEDOUT]
}
