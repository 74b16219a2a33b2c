import Foundation
import PushTesting
import Synchronization

@testable import martlet

/// The options of a command that waits for the end of a notification for as long as a busy machine needs.
let waiting = ["--wait", "--wait-seconds", "\(Duration.patience.components.seconds)"]

/// Runs a command as it would be typed after `martlet`, in this process.
/// - Parameters:
///   - interruption: Returns when the command is interrupted, as with Ctrl-C.
///   - write: Writes standard output; `nil` keeps it.
/// - Returns: its standard output, without the last line break.
@discardableResult
func martlet(
    _ words: [String],
    interruption: @escaping @Sendable () async -> Void = untilCancelled,
    write: (@Sendable (Data) throws -> Void)? = nil
) async throws -> String {
    let output = Output()
    let writer: @Sendable (Data) throws -> Void = write ?? { data in output.add(data) }
    try await StandardOutput.$write.withValue(writer) {
        try await APIClient.$timeout.withValue(.patience) {
            try await APIClient.$silence.withValue(.patience) {
                try await DirectDestination.$timeout.withValue(.patience) {
                    try await TerminationSignal.$wait.withValue(interruption) {
                        try await ProviderSend.$pause.withValue(.zero) {
                            try await MartletCommand.run(FormerSpelling.translated(words).words)
                        }
                    }
                }
            }
        }
    }
    return output.text
}

/// Returns when the task is cancelled.
@Sendable func untilCancelled() async {
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
    for await _ in stream {}
    continuation.finish()
}

private final class Output: Sendable {
    private let data = Mutex(Data())

    var text: String {
        let text = String(decoding: self.data.withLock { $0 }, as: UTF8.self)
        return text.hasSuffix("\n") ? String(text.dropLast()) : text
    }

    func add(_ more: Data) { self.data.withLock { $0 += more } }
}

extension RunningProvider {
    /// Runs a command against this provider, as its administrator.
    @discardableResult
    func martlet(_ words: String...) async throws -> String { try await self.martlet(words) }

    /// Runs a command against this provider, as its administrator.
    @discardableResult
    func martlet(_ words: [String]) async throws -> String {
        let access = ["--server", self.api.baseURL, "--api-key", self.api.apiKey ?? ""]
        return try await MartletTests.martlet(words + access)
    }
}

/// Returns the description of the error that a closure throws; `nil` if it throws none.
func failure(_ body: () async throws -> Void) async -> String? {
    do {
        try await body()
        return nil
    } catch {
        return "\(error)"
    }
}
