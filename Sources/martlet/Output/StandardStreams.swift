import Foundation
import PushSupport

/// Standard output, which receives the results of commands. It is not buffered, not even for a pipe.
enum StandardOutput {
    /// The function that writes bytes, which tests replace.
    @TaskLocal static var write: @Sendable (Data) throws -> Void = { data in
        try FileHandle.standardOutput.write(contentsOf: data)
    }

    /// Writes one line of a longer output. Returns `true` if the line was written, and `false` once the output is
    /// closed, for example by `| head`.
    @discardableResult
    static func line(_ text: String, terminator: String = "\n") -> Bool {
        (try? self.write(Data((text + terminator).utf8))) != nil
    }

    /// Writes the result of a command. If the result cannot be written, the command fails.
    ///
    /// If the reading end of a pipe is closed, `SIGPIPE` terminates the process first, unless the signal is ignored.
    /// - Throws: ``OutputError`` if the result cannot be written.
    static func result(_ text: String, terminator: String = "\n") throws {
        do {
            try self.write(Data((text + terminator).utf8))
        } catch {
            throw OutputError(error)
        }
    }
}

/// The error of a result that could not be written, for example because the disk is full.
struct OutputError: StatusError {
    let description: String
    let status = ExitStatus.failed
    /// A Boolean value that indicates whether the reading end of a pipe was closed, as by `| head`. Only the exit
    /// status reports this error.
    let isClosedPipe: Bool

    init(_ error: any Error) {
        let cause = (error as? CocoaError)?.userInfo[NSUnderlyingErrorKey] as? NSError
        self.isClosedPipe = cause?.domain == NSPOSIXErrorDomain && cause?.code == Int(EPIPE)
        self.description = "standard output cannot be written: \(ErrorDescription.of(error))"
    }
}

/// Standard error, which receives all output except results.
enum StandardError {
    static func line(_ text: String) { self.write("\(text)\n") }

    static func write(_ text: String) { try? FileHandle.standardError.write(contentsOf: Data(text.utf8)) }
}

/// Writes files that the user names. All functions throw ``SettingsError`` if the file exists already.
enum OutputFile {
    /// Creates a file.
    /// - Parameter isSecret: Pass `true` to let only the owner read the file.
    static func write(_ content: Data, to path: String, isSecret: Bool) throws {
        guard !FileManager.default.fileExists(atPath: path) else {
            throw SettingsError("\(path) exists already: move it away or name another file with --output")
        }
        // No other user can open a secret file at any moment, and a symbolic link is not followed.
        let isWritten =
            isSecret
            ? DurableFile.create(path, Array(content))
            : FileManager.default.createFile(atPath: path, contents: content, attributes: [.posixPermissions: 0o644])
        guard isWritten else {
            throw SettingsError("\(path) cannot be written: \(DurableFile.lastError)")
        }
    }

    /// Creates a PEM file. It ends with a line break, so that PEM files can be concatenated.
    /// - Parameter isSecret: Pass `true` to let only the owner read the file.
    static func write(pem text: String, to path: String, isSecret: Bool) throws {
        try Self.write(Data(PEMText.file(text).utf8), to: path, isSecret: isSecret)
    }
}
