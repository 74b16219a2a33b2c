import PushSupport

/// The delay of responses with status 429, so that a client that ignores `retry-after` does not get them faster.
enum TooManyRequestsDelay {
    private static let length: Duration = .milliseconds(250)

    /// Waits before the response to an error of that status; returns at once for any other.
    static func wait(before error: RequestError) async {
        guard error.kind == .rateLimited else { return }
        try? await Task.sleep(for: Self.length, clock: .continuous)
    }
}
