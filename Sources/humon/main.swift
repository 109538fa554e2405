internal import App

Program.reserveStandardStreams()
await Program.main()
