import Foundation

/// libFuzzer's driver. Its own `main` is not used because the package manager has one.
package enum Fuzzer {
    // A C function takes no context; set once, before the driver starts.
    nonisolated(unsafe) private static var tryOut: ([UInt8]) -> Void = { _ in }

    /// Gives `tryOut` one input after the other, until the driver ends the process. What must never happen, traps.
    /// - Parameter stackSize: in bytes; runs on a thread with no more than that, to see what recursion takes.
    package static func run(stackSize: Int? = nil, _ tryOut: @escaping @Sendable ([UInt8]) -> Void) -> Never {
        self.tryOut = tryOut
        guard let stackSize else { self.drive() }
        let thread = Thread { self.drive() }
        thread.stackSize = stackSize
        thread.start()
        while true { sleep(1000) }
    }

    private static func drive() -> Never {
        var count = CommandLine.argc
        var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?> = CommandLine.unsafeArgv
        exit(
            runFuzzer(&count, &arguments) { start, count in
                Fuzzer.tryOut(Array(UnsafeBufferPointer(start: start, count: count)))
                return 0
            }
        )
    }
}

@_silgen_name("LLVMFuzzerRunDriver")
private func runFuzzer(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
    _ tryOut: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt
