import Foundation

/// Runs libFuzzer's driver. Its own `main` is not linked because SwiftPM has one.
package enum Fuzzer {
    // A C function has no context. The variable is set once, before the driver starts.
    nonisolated(unsafe) fileprivate static var tryOut: ([UInt8]) -> Void = { _ in }

    /// Calls `tryOut` with one input after the other, until the driver ends the process. A violated rule must trap.
    /// - Parameter stackSize: the stack of the thread in bytes, to find deep recursion; `nil` uses the main thread.
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
        exit(runFuzzer(&count, &arguments, tryOneInput))
    }
}

/// Tries out one input. A debug build links libFuzzer's `main` as well, which is never called, and needs a function of this name.
@_cdecl("LLVMFuzzerTestOneInput")
func tryOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    Fuzzer.tryOut(Array(UnsafeBufferPointer(start: start, count: count)))
    return 0
}

@_silgen_name("LLVMFuzzerRunDriver")
private func runFuzzer(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
    _ tryOut: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt
