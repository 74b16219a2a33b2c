import Testing

@testable import PushBridges
