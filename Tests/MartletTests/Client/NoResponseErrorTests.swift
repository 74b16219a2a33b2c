import AsyncHTTPClient
import Foundation
import NIOCore
import Testing

@testable import martlet

/// Errors of requests without a response, as people read them.
@Suite struct NoResponseErrorTests {
    @Test func eachCauseHasItsWords() {
        let url = "http://127.0.0.1:1"
        let late = NoResponseError(HTTPClientError.deadlineExceeded, from: url)
        #expect(late.mayHaveArrived && late.description == "http://127.0.0.1:1 did not respond in time")
        let lost = NoResponseError(HTTPClientError.remoteConnectionClosed, from: url)
        #expect(lost.mayHaveArrived && lost.description.contains("closed the connection without a response; a port"))
        #expect(!NoResponseError(HTTPClientError.connectTimeout, from: url).mayHaveArrived)
        #expect(lost.status == .unavailable)
    }

    @Test(arguments: [(ECONNRESET, true), (EPIPE, true), (ETIMEDOUT, true), (ECONNREFUSED, false)])
    func aRequestOnABrokenConnectionMayHaveArrived(code: CInt, mayHaveArrived: Bool) {
        let error = NoResponseError(IOError(errnoCode: code, reason: "read"), from: "http://127.0.0.1:1")
        #expect(error.mayHaveArrived == mayHaveArrived)
        #expect(error.description.hasPrefix("no response from http://127.0.0.1:1"))
    }
}
