import AsyncHTTPClient
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
            self.description = "no response from \(url): is it running? (\(ErrorDescription.of(error)))"
        }
    }
}
