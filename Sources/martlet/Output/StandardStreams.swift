import Foundation
import PushSupport

/// Standard output, for results. Everything is written at once, also into a pipe.
enum StandardOutput {
    /// The function that writes. Tests replace it.
    @TaskLocal static var write: @Sendable (Data) throws -> Void = { data in
        try FileHandle.standardOutput.write(contentsOf: data)
    }

    /// Writes a line of many. Returns `false` once the output is closed, as after `| head`.
    @discardableResult
    static func line(_ text: String, terminator: String = "\n") -> Bool {
        (try? self.write(Data((text + terminator).utf8))) != nil
    }

    /// Writes the result of a command, which has failed without it.
    ///
    /// A pipe whose reader has gone ends the process before (`SIGPIPE`), unless that signal is ignored.
    /// - Throws: ``OutputError``.
    static func result(_ text: String, terminator: String = "\n") throws {
        do {
            try self.write(Data((text + terminator).utf8))
        } catch {
            throw OutputError(error)
        }
    }
}

/// The error of a result that could not be written, as on a full disk.
struct OutputError: StatusError {
    let description: String
    let status = ExitStatus.failed
    /// Indicates whether the reader of a pipe has gone, as after `| head`. That is told by the status alone.
    let isClosedPipe: Bool

    init(_ error: any Error) {
        let cause = (error as? CocoaError)?.userInfo[NSUnderlyingErrorKey] as? NSError
        self.isClosedPipe = cause?.domain == NSPOSIXErrorDomain && cause?.code == Int(EPIPE)
        self.description = "standard output cannot be written: \(ErrorDescription.of(error))"
    }
}

/// Standard error, for everything but results.
enum StandardError {
    static func line(_ text: String) { self.write("\(text)\n") }

    static func write(_ text: String) { try? FileHandle.standardError.write(contentsOf: Data(text.utf8)) }
}
