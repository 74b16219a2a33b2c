import PushSupport

/// The delay of responses with status 429, which slows down clients that ignore `retry-after`.
enum TooManyRequestsDelay {
    private static let length: Duration = .milliseconds(250)

    /// Waits 250 ms before the response to an error with status 429. For any other error, returns immediately.
    static func wait(before error: RequestError) async {
        guard error.kind == .rateLimited else { return }
        try? await Task.sleep(for: Self.length, clock: .continuous)
    }
}
