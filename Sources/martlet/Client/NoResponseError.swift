import AsyncHTTPClient
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
        let (timeouts, ends): ([HTTPClientError], [HTTPClientError]) = (
            [.deadlineExceeded, .readTimeout], [.remoteConnectionClosed]
        )
        if let error = error as? HTTPClientError, timeouts.contains(error) {
            self.mayHaveArrived = true
            self.description = "\(url) did not respond in time"
        } else if let error = error as? HTTPClientError, ends.contains(error) {
            self.mayHaveArrived = true
            self.description = "\(url) closed the connection without a response"
        } else {
            self.mayHaveArrived = false
            let remedy =
                error is NIOSSLError || error is NIOSSLExtraError
                ? "is its certificate trusted? --api-authority names an authority of your own" : "is it running?"
            self.description = "no response from \(url): \(remedy) (\(ErrorDescription.of(error)))"
        }
    }
}
