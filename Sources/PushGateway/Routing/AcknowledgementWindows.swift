import Foundation

/// The windows of time in which devices may acknowledge before their messages are stored.
///
/// A device that was sent something in one window is looked at when the next one has passed, so that a push waits for
/// its device between one and two windows.
struct AcknowledgementWindows: Sendable {
    /// The number of windows that have passed.
    private(set) var current = 0
    /// Devices that were sent something in this window.
    private var recent: [UUID] = []
    /// Devices that were sent something in the window before.
    private var waiting: [UUID] = []

    var isEmpty: Bool { self.recent.isEmpty && self.waiting.isEmpty }

    /// Adds a device to this window.
    /// - Parameter last: The last window to which it was added. A device is added once.
    mutating func add(_ device: UUID, last: inout Int?) {
        guard last != self.current else { return }
        last = self.current
        self.recent.append(device)
    }

    /// Begins the next window.
    /// - Returns: The devices to look at.
    mutating func advance() -> [UUID] {
        defer {
            self.waiting = self.recent
            self.recent = []
            self.current += 1
        }
        return self.waiting
    }
}
